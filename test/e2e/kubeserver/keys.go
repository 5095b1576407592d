package kubeserver

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"fmt"
	"os"
	"path/filepath"
)

// writeCredentials writes the API server's credentials to dir, namely the key that signs service account
// tokens and the administrator's token, and returns the token.
func writeCredentials(dir string) (token string, err error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return "", err
	}
	der, err := x509.MarshalECPrivateKey(key)
	if err != nil {
		return "", err
	}
	if err := os.WriteFile(filepath.Join(dir, keyFile), encode("EC PRIVATE KEY", der), 0o600); err != nil {
		return "", err
	}
	// A line has the form: token, user, user id, "group,...".
	token = rand.Text()
	line := fmt.Sprintf("%s,admin,admin,%q\n", token, "system:masters")
	return token, os.WriteFile(filepath.Join(dir, tokenFile), []byte(line), 0o600)
}

const (
	keyFile   = "service-account.key"
	tokenFile = "tokens.csv"
)
