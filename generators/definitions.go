package generators

import (
	"context"

	"github.com/kubewright/kubewright/generators/internal/crd"
	"github.com/kubewright/kubewright/generators/internal/model"
)

// Definition is a CustomResourceDefinition that was made of types.
type Definition struct {
	// Group and Kind identify it, and File is the name of its file.
	Group, Kind, File string
	// Text is the YAML, and begins with "---".
	Text []byte
}

// Definitions makes the definitions of the kinds in the packages of a configuration, of which it uses Inputs,
// Definitions and Strict. It writes nothing. If one of the problems isn't just a warning, the definitions are
// nil.
func Definitions(ctx context.Context, cfg Config) ([]Definition, Problems, error) {
	only := Config{Inputs: cfg.Inputs, Strict: cfg.Strict, Definitions: cfg.Definitions}
	if only.Definitions == nil {
		only.Definitions = &DefinitionOptions{MaxDescription: -1}
	}
	api, problems, err := only.load(ctx)
	if err != nil || problems.Fatal() {
		return nil, problems, err
	}
	made, more := only.makeDefinitions(api)
	problems = append(problems, more...).Sort()
	if problems.Fatal() {
		return nil, problems, nil
	}
	var all []Definition
	for _, m := range made {
		all = append(all, Definition{m.Group, m.Kind, m.File(), m.Text})
	}
	return all, problems, nil
}

// makeDefinitions makes the definitions.
func (c *Config) makeDefinitions(api *model.API) ([]*crd.Made, Problems) {
	return crd.DefinitionOptions{MaxDescription: c.Definitions.MaxDescription,
		EmbeddedMetadata: c.Definitions.EmbeddedMetadata, AllowFloats: c.Definitions.AllowFloats,
		Strict: c.Strict}.Make(api.CRDs)
}
