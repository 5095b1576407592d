package decode

import (
	"bytes"
	"io"
	"testing"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer/streaming"
	"k8s.io/client-go/kubernetes/scheme"
	restwatch "k8s.io/client-go/rest/watch"
)

func mediaType(tb testing.TB, name string) runtime.SerializerInfo {
	info, ok := runtime.SerializerInfoForMediaType(scheme.Codecs.SupportedMediaTypes(), name)
	if !ok {
		tb.Fatalf("no serializer for %s", name)
	}
	return info
}

// objectDecoder returns the decoder of client-go's clients.
func objectDecoder(info runtime.SerializerInfo) runtime.Decoder {
	return scheme.Codecs.WithoutConversion().DecoderToVersion(info.Serializer, nil)
}

// eventEncoder returns an encoder that writes a watch as API servers do.
func eventEncoder(to io.Writer, info runtime.SerializerInfo, objects runtime.Encoder) *restwatch.Encoder {
	stream := info.StreamSerializer
	return restwatch.NewEncoder(streaming.NewEncoder(stream.Framer.NewFrameWriter(to), stream.Serializer),
		objects)
}

// eventDecoder returns a decoder that reads a watch as client-go does.
func eventDecoder(data []byte, info runtime.SerializerInfo, objects runtime.Decoder) *restwatch.Decoder {
	stream := info.StreamSerializer
	frames := stream.Framer.NewFrameReader(io.NopCloser(bytes.NewReader(data)))
	return restwatch.NewDecoder(streaming.NewDecoder(frames, stream.Serializer), objects)
}
