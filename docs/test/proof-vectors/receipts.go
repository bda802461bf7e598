// A third writing of the receipt's verifier, for the published vectors, with Go's standard library alone.

package main

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"math/big"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode/utf8"
)

type refused string

type object = map[string]any

type credential struct{ Id, PublicKey, Email string }

type receiptCase struct {
	Name, Receipt, KeySet, Issuer, Audience, Says string
	Now                                           int64
	Payload                                       json.RawMessage
	Credentials                                   *[]credential
	AllowRejected                                 bool
	Proof                                         json.RawMessage
	Witnesses                                     []string
}

type keySet struct {
	Keys []struct {
		Kty, Crv, X, Kid string
		RetiredAt        *int64
	}
	Revoked []struct{ Kid string }
}

func refuse(reason string) { panic(refused(reason)) }

func need(isTrue bool) {
	if !isTrue {
		refuse("malformed")
	}
}

func unbase64url(text string) ([]byte, bool) {
	data, err := base64.RawURLEncoding.Strict().DecodeString(text)
	return data, err == nil && base64url(data) == text
}

func mustUnbase64url(text string) []byte {
	data, isRight := unbase64url(text)
	need(isRight)
	return data
}

func base64url(data []byte) string { return base64.RawURLEncoding.EncodeToString(data) }

func digestOf(text string) string {
	sum := sha256.Sum256([]byte(text))
	return base64url(sum[:])
}

// Numbers stay as they are written, and a name that comes twice is refused.
func parseExact(text string) (value any, err error) {
	if !utf8.ValidString(text) || !json.Valid([]byte(text)) || loneSurrogate.MatchString(withoutPairs(text)) {
		return nil, io.ErrUnexpectedEOF
	}
	decoder := json.NewDecoder(strings.NewReader(text))
	decoder.UseNumber()
	return readValue(decoder)
}

var escapedBackslash = regexp.MustCompile(`\\\\`)
var surrogatePair = regexp.MustCompile(`\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}`)
var loneSurrogate = regexp.MustCompile(`\\u[dD][89a-fA-F]`)

func withoutPairs(text string) string {
	return surrogatePair.ReplaceAllString(escapedBackslash.ReplaceAllString(text, ""), "")
}

func readValue(decoder *json.Decoder) (any, error) {
	token, err := decoder.Token()
	if err != nil {
		return nil, err
	}
	switch token {
	case json.Delim('{'):
		found := object{}
		for decoder.More() {
			name, err := decoder.Token()
			if err != nil {
				return nil, err
			}
			if _, isThere := found[name.(string)]; isThere {
				return nil, fmt.Errorf("%v comes twice", name)
			}
			if found[name.(string)], err = readValue(decoder); err != nil {
				return nil, err
			}
		}
		_, err := decoder.Token()
		return found, err
	case json.Delim('['):
		list := []any{}
		for decoder.More() {
			value, err := readValue(decoder)
			if err != nil {
				return nil, err
			}
			list = append(list, value)
		}
		_, err := decoder.Token()
		return list, err
	}
	return token, nil
}

func parseObject(text string) object {
	value, err := parseExact(text)
	found, isObject := value.(object)
	need(err == nil && isObject)
	return found
}

func textAt(from object, name string) string {
	text, isText := from[name].(string)
	need(isText)
	return text
}

func nullableTextAt(from object, name string) *string {
	value, isThere := from[name]
	need(isThere)
	if value == nil {
		return nil
	}
	text := textAt(from, name)
	return &text
}

func textsAt(from object, name string) []string {
	list, isList := from[name].([]any)
	need(isList)
	texts := []string{}
	for _, each := range list {
		text, isText := each.(string)
		need(isText)
		texts = append(texts, text)
	}
	return texts
}

var whole = regexp.MustCompile(`^(0|[1-9][0-9]{0,14})$`)

func wholeOf(value any) int64 {
	number, isNumber := value.(json.Number)
	need(isNumber && whole.MatchString(number.String()))
	found, _ := number.Int64()
	return found
}

func digestAt(from object, name string) string {
	text := textAt(from, name)
	need(len(mustUnbase64url(text)) == 32)
	return text
}

func nullableDigestAt(from object, name string) *string {
	if nullableTextAt(from, name) == nil {
		return nil
	}
	text := digestAt(from, name)
	return &text
}

func objectAt(from object, name string) object {
	found, isObject := from[name].(object)
	need(isObject)
	return found
}

func nullableObjectAt(from object, name string) object {
	value, isThere := from[name]
	need(isThere)
	if value == nil {
		return nil
	}
	return objectAt(from, name)
}

type digested struct {
	digest *string
	bytes  int64
}

func digestedOf(from object) *digested {
	if from == nil {
		return nil
	}
	return &digested{nullableDigestAt(from, "digest"), wholeOf(from["bytes"])}
}

func (d *digested) isOf(text string) bool {
	return d != nil && d.digest != nil && d.bytes == int64(len(text)) && *d.digest == digestOf(text)
}

type vote struct {
	email, cred string
	hasCred     bool
	assertion   object
}

type claims struct {
	iss, sub, ws, decision string
	aud                    []string
	iat, nbf, exp          int64
	by                     []vote
	shown                  *string
	payload, effective     *digested
	text                   *string
	raw                    object
}

func readClaims(data []byte) claims {
	from := parseObject(string(data))
	c := claims{raw: from, iss: textAt(from, "iss"), sub: textAt(from, "sub"), ws: textAt(from, "ws")}
	textAt(from, "jti")
	textAt(from, "level")
	c.aud, c.decision = textsAt(from, "aud"), textAt(from, "decision")
	need(c.decision == "approved" || c.decision == "rejected")
	c.iat, c.nbf, c.exp = wholeOf(from["iat"]), wholeOf(from["nbf"]), wholeOf(from["exp"])
	_, isBoolean := from["edited"].(bool)
	list, isList := from["by"].([]any)
	need(isBoolean && isList && len(list) > 0)
	for _, each := range list {
		one, isObject := each.(object)
		need(isObject)
		c.by = append(c.by, readVote(one))
	}
	policy := objectAt(from, "policy")
	wholeOf(policy["required"])
	stages, isList := policy["stages"].([]any)
	need(isList)
	for _, each := range stages {
		wholeOf(each)
	}
	if value, isThere := policy["signature"]; isThere {
		_, isBoolean := value.(bool)
		need(isBoolean)
	}
	if shown := nullableObjectAt(from, "shown"); shown != nil {
		wholeOf(shown["v"])
		digest := digestAt(shown, "digest")
		c.shown = &digest
	}
	if log := nullableObjectAt(from, "log"); log != nil {
		textAt(log, "origin")
	}
	c.payload = digestedOf(objectAt(from, "payload"))
	c.effective = digestedOf(nullableObjectAt(from, "effective"))
	need((c.effective == nil) == (c.decision == "rejected"))
	if _, isThere := from["text"]; isThere {
		text := textAt(from, "text")
		c.text = &text
	}
	return c
}

func readVote(from object) vote {
	v := vote{email: textAt(from, "email")}
	textAt(from, "at")
	textsAt(from, "amr")
	if _, isThere := from["for"]; isThere {
		textAt(from, "for")
	}
	if _, v.hasCred = from["cred"]; v.hasCred {
		v.cred = textAt(from, "cred")
	}
	if _, isThere := from["assertion"]; isThere {
		v.assertion = objectAt(from, "assertion")
		textAt(v.assertion, "statement")
		for _, name := range []string{"authenticatorData", "clientDataJSON", "signature"} {
			mustUnbase64url(textAt(v.assertion, name))
		}
	}
	return v
}

func (set keySet) find(kid string) (ed25519.PublicKey, *int64) {
	for _, key := range set.Revoked {
		if key.Kid == kid {
			refuse("key_revoked")
		}
	}
	for _, key := range set.Keys {
		raw, isRight := unbase64url(key.X)
		isFit := key.Kid == kid && key.Kty == "OKP" && key.Crv == "Ed25519" && isRight && len(raw) == 32
		if isFit && digestOf(`{"crv":"Ed25519","kty":"OKP","x":"`+key.X+`"}`) == kid {
			return raw, key.RetiredAt
		}
	}
	refuse("key_unknown")
	return nil, nil
}

func readSigned(receipt string, set keySet) claims {
	parts := strings.Split(receipt, ".")
	need(len(parts) == 3)
	head, data, signature := mustUnbase64url(parts[0]), mustUnbase64url(parts[1]), mustUnbase64url(parts[2])
	header := parseObject(string(head))
	if header["typ"] != "countersign-receipt+jwt" {
		refuse("wrong_type")
	}
	if header["alg"] != "Ed25519" {
		refuse("wrong_algorithm")
	}
	need(len(header) == 3)
	key, retiredAt := set.find(textAt(header, "kid"))
	if !ed25519.Verify(key, []byte(parts[0]+"."+parts[1]), signature) {
		refuse("signature_invalid")
	}
	c := readClaims(data)
	if retiredAt != nil && c.iat > *retiredAt {
		refuse("key_retired")
	}
	return c
}

func isSameValue(one, other any) bool {
	switch first := one.(type) {
	case json.Number:
		second, isNumber := other.(json.Number)
		a, isA := new(big.Rat).SetString(first.String())
		b, isB := new(big.Rat).SetString(second.String())
		return isNumber && isA && isB && a.Cmp(b) == 0
	case []any:
		second, isList := other.([]any)
		return isList && slices.EqualFunc(first, second, isSameValue)
	case object:
		second, isObject := other.(object)
		if !isObject || len(first) != len(second) {
			return false
		}
		for name, value := range first {
			found, isThere := second[name]
			if !isThere || !isSameValue(value, found) {
				return false
			}
		}
		return true
	}
	return one == other
}

func refuseOtherPayload(c claims, raw json.RawMessage) {
	if c.text != nil && !c.effective.isOf(*c.text) {
		refuse("embedded_differs")
	}
	if raw == nil || c.effective == nil {
		return
	}
	var given *string
	if err := json.Unmarshal(raw, &given); err != nil {
		panic(err)
	}
	if given == nil && c.effective.digest == nil || given != nil && c.effective.isOf(*given) {
		return
	}
	if given != nil && c.text != nil {
		one, flaw := parseExact(*given)
		other, _ := parseExact(*c.text)
		if flaw == nil && isSameValue(one, other) {
			refuse("payload_same_value")
		}
	}
	refuse("payload_differs")
}

var statementNames = []string{"request", "workspace", "verdict", "revision", "payload", "effective", "shown", "audience", "expires", "checkpoint"}

var isoTime = regexp.MustCompile(`^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}\.[0-9]{3}Z$`)

func readStatement(text string) object {
	statement := parseObject(text)
	need(len(statement) == len(statementNames))
	for _, name := range statementNames {
		_, isThere := statement[name]
		need(isThere)
	}
	wholeOf(statement["revision"])
	for _, name := range []string{"payload", "effective", "shown"} {
		nullableDigestAt(statement, name)
	}
	for _, name := range []string{"request", "workspace", "verdict", "expires"} {
		textAt(statement, name)
	}
	need(isoTime.MatchString(textAt(statement, "expires")))
	textsAt(statement, "audience")
	nullableTextAt(statement, "checkpoint")
	return statement
}

func isSameText(one, other *string) bool {
	return one == nil && other == nil || one != nil && other != nil && *one == *other
}

func refuseOtherStatement(c claims, assertion object) {
	said := readStatement(textAt(assertion, "statement"))
	if said["request"] != c.sub || said["workspace"] != c.ws {
		refuse("assertion_other_request")
	}
	if said["verdict"] != map[string]string{"approved": "approve", "rejected": "reject"}[c.decision] {
		refuse("assertion_other_verdict")
	}
	var effective *string
	if c.effective != nil {
		effective = c.effective.digest
	}
	isPayload := isSameText(nullableTextAt(said, "payload"), c.payload.digest)
	if !isPayload || !isSameText(nullableTextAt(said, "effective"), effective) {
		refuse("assertion_other_payload")
	}
	if !slices.Equal(textsAt(said, "audience"), c.aud) {
		refuse("assertion_other_audience")
	}
	expires, err := time.Parse(time.RFC3339, textAt(said, "expires"))
	if err != nil || time.Unix(c.iat, 0).After(expires) {
		refuse("assertion_invalid")
	}
}

func refuseOtherCeremony(c claims, assertion object) {
	client := parseObject(string(mustUnbase64url(textAt(assertion, "clientDataJSON"))))
	site, err := url.Parse(c.iss)
	need(err == nil)
	data := mustUnbase64url(textAt(assertion, "authenticatorData"))
	rpId := sha256.Sum256([]byte(site.Hostname()))
	isRight := client["type"] == "webauthn.get" &&
		textAt(client, "challenge") == digestOf("countersign decision v1\x00"+textAt(assertion, "statement")) &&
		client["origin"] == site.Scheme+"://"+site.Host && client["crossOrigin"] != true &&
		len(data) >= 37 && bytes.Equal(data[:32], rpId[:]) && data[32]&0x01 != 0
	if !isRight {
		refuse("assertion_invalid")
	}
	if data[32]&0x04 == 0 {
		refuse("assertion_not_verified")
	}
}

func isSigned(assertion object, publicKey string) bool {
	key := mustUnbase64url(publicKey)
	sum := sha256.Sum256(mustUnbase64url(textAt(assertion, "clientDataJSON")))
	data := append(mustUnbase64url(textAt(assertion, "authenticatorData")), sum[:]...)
	signature := mustUnbase64url(textAt(assertion, "signature"))
	text := hex.EncodeToString(key)
	if strings.HasPrefix(text, "a4010103272006215820") && len(key) == 42 {
		return ed25519.Verify(key[10:], data, signature)
	}
	if strings.HasPrefix(text, "a5010203262001215820") && len(key) == 77 {
		x, y := new(big.Int).SetBytes(key[10:42]), new(big.Int).SetBytes(key[45:])
		hash := sha256.Sum256(data)
		return ecdsa.VerifyASN1(&ecdsa.PublicKey{Curve: elliptic.P256(), X: x, Y: y}, hash[:], signature)
	}
	return false
}

func checkVotes(c claims, credentials *[]credential) {
	used := map[string]bool{}
	for _, vote := range c.by {
		if credentials == nil && vote.assertion == nil {
			continue
		}
		if vote.assertion == nil || credentials != nil && !vote.hasCred {
			refuse("assertion_missing")
		}
		var own *credential
		if credentials != nil {
			at := slices.IndexFunc(*credentials, func(each credential) bool {
				return each.Id == vote.cred && (each.Email == "" || strings.EqualFold(each.Email, vote.email))
			})
			if at < 0 {
				refuse("credential_unknown")
			}
			own = &(*credentials)[at]
		}
		refuseOtherStatement(c, vote.assertion)
		refuseOtherCeremony(c, vote.assertion)
		person := strings.ToLower(vote.email)
		if own != nil && (used[vote.cred] || used[person] || !isSigned(vote.assertion, own.PublicKey)) {
			refuse("assertion_invalid")
		}
		used[vote.cred], used[person] = true, true
	}
	if last := c.by[len(c.by)-1].assertion; last != nil {
		if !isSameText(nullableTextAt(readStatement(textAt(last, "statement")), "shown"), c.shown) {
			refuse("assertion_invalid")
		}
	}
}

// The level, or the reason of the refusal.
func verifyReceipt(test receiptCase, receipt string, set keySet) (says string) {
	defer func() {
		if reason, isRefused := recover().(refused); isRefused {
			says = string(reason)
		}
	}()
	c := readSigned(receipt, set)
	switch {
	case c.iss != test.Issuer:
		return "wrong_issuer"
	case !slices.Contains(c.aud, test.Audience):
		return "wrong_audience"
	case c.nbf > test.Now+60:
		return "not_yet_valid"
	case test.Now >= c.exp:
		return "expired"
	case c.decision == "rejected" && !test.AllowRejected:
		return "rejected"
	}
	refuseOtherPayload(c, test.Payload)
	checkVotes(c, test.Credentials)
	isWitnessed := checkProof(test, c, c.raw, set)
	switch {
	case test.Credentials != nil:
		return "person-signed"
	case isWitnessed:
		return "witnessed"
	}
	return "operator-signed"
}
