// A third writing of the log's verifier: notes, trees, entries, and proofs of a decision's place in the log.

package main

import (
	"bytes"
	"crypto/ed25519"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
)

type noteKey struct {
	name      string
	id        []byte
	kind      byte
	publicKey []byte
}

type noteSignature struct {
	name    string
	id, raw []byte
}

type signedNote struct {
	text       string
	signatures []noteSignature
}

type checkpoint struct {
	origin string
	size   uint64
	root   []byte
}

func unbase64(text string) []byte {
	data, err := base64.StdEncoding.Strict().DecodeString(text)
	if err != nil || base64.StdEncoding.EncodeToString(data) != text {
		return nil
	}
	return data
}

func keyId(name string, kind byte, publicKey []byte) []byte {
	sum := sha256.Sum256(append([]byte(name+"\n"+string([]byte{kind})), publicKey...))
	return sum[:4]
}

func isName(name string) bool {
	return name != "" && !strings.ContainsFunc(name, unicode.IsSpace) && !strings.Contains(name, "+")
}

func isControl(r rune) bool { return r < 0x20 && r != '\n' }

func parseNote(note string) *signedNote {
	end := strings.LastIndex(note, "\n\n")
	if end < 0 || strings.ContainsFunc(note, isControl) || !strings.HasSuffix(note, "\n") {
		return nil
	}
	found := &signedNote{text: note[:end+1]}
	for _, line := range strings.Split(strings.TrimSuffix(note[end+2:], "\n"), "\n") {
		parts := strings.Split(line, " ")
		if len(parts) != 3 || parts[0] != "\u2014" || !isName(parts[1]) {
			return nil
		}
		data := unbase64(parts[2])
		if len(data) <= 4 {
			return nil
		}
		found.signatures = append(found.signatures, noteSignature{parts[1], data[:4], data[4:]})
	}
	return found
}

func parseKey(vkey string) *noteKey {
	parts := strings.SplitN(vkey, "+", 3)
	if len(parts) != 3 || !isName(parts[0]) {
		return nil
	}
	data := unbase64(parts[2])
	if len(data) != 33 || data[0] != 1 && data[0] != 4 {
		return nil
	}
	key := &noteKey{parts[0], keyId(parts[0], data[0], data[1:]), data[0], data[1:]}
	if hex.EncodeToString(key.id) != parts[1] {
		return nil
	}
	return key
}

func isSignedNote(note *signedNote, key *noteKey) bool {
	if note == nil || key == nil {
		return false
	}
	isFound := false
	for _, each := range note.signatures {
		if each.name != key.name || !bytes.Equal(each.id, key.id) {
			continue
		}
		message, signature := note.text, each.raw
		if key.kind == 4 {
			if len(signature) != 72 || signature[0] >= 128 {
				return false
			}
			message = fmt.Sprintf("cosignature/v1\ntime %d\n%s", binary.BigEndian.Uint64(signature), note.text)
			signature = signature[8:]
		}
		if !ed25519.Verify(key.publicKey, []byte(message), signature) {
			return false
		}
		isFound = true
	}
	return isFound
}

func nodeOf(left, right []byte) []byte {
	sum := sha256.Sum256(slices.Concat([]byte{1}, left, right))
	return sum[:]
}

func isIncluded(index, size uint64, leaf []byte, proof [][]byte, root []byte) bool {
	if index >= size {
		return false
	}
	place, last := index, size-1
	for _, sibling := range proof {
		if last == 0 {
			return false
		}
		if place&1 == 1 || place == last {
			leaf = nodeOf(sibling, leaf)
			for place&1 == 0 && place != 0 {
				place, last = place>>1, last>>1
			}
		} else {
			leaf = nodeOf(leaf, sibling)
		}
		place, last = place>>1, last>>1
	}
	return last == 0 && bytes.Equal(leaf, root)
}

func isConsistent(oldSize, newSize uint64, oldRoot, newRoot []byte, proof [][]byte) bool {
	if oldSize == 0 || oldSize > newSize {
		return false
	}
	if oldSize == newSize {
		return len(proof) == 0 && bytes.Equal(oldRoot, newRoot)
	}
	if len(proof) == 0 {
		return false
	}
	place, last := oldSize-1, newSize-1
	for place&1 == 1 {
		place, last = place>>1, last>>1
	}
	if place == 0 {
		proof = append([][]byte{oldRoot}, proof...)
	}
	before, after := proof[0], proof[0]
	for _, sibling := range proof[1:] {
		if last == 0 {
			return false
		}
		if place&1 == 1 || place == last {
			before, after = nodeOf(sibling, before), nodeOf(sibling, after)
			for place&1 == 0 && place != 0 {
				place, last = place>>1, last>>1
			}
		} else {
			after = nodeOf(after, sibling)
		}
		place, last = place>>1, last>>1
	}
	return last == 0 && bytes.Equal(before, oldRoot) && bytes.Equal(after, newRoot)
}

func isSalted(entry object, field, text, salt string) bool {
	key, isRight := unbase64url(salt)
	mac := hmac.New(sha256.New, key)
	mac.Write([]byte(field + "\x00" + text))
	return isRight && len(key) == 32 && objectAt(entry, "salted")[field] == base64url(mac.Sum(nil))
}

var wholeSize = regexp.MustCompile(`^(0|[1-9][0-9]{0,14})$`)
var era = regexp.MustCompile(`^(/[1-9][0-9]{0,8})?$`)

func parseCheckpoint(text string) checkpoint {
	lines := strings.Split(text, "\n")
	isWhole := len(lines) >= 4 && lines[len(lines)-1] == "" && !slices.Contains(lines[:len(lines)-1], "")
	need(isWhole && wholeSize.MatchString(lines[1]) && len(unbase64(lines[2])) == 32)
	size, _ := strconv.ParseUint(lines[1], 10, 64)
	return checkpoint{lines[0], size, unbase64(lines[2])}
}

type openedProof struct {
	entry      object
	fact, salt string
	note       *signedNote
	checkpoint checkpoint
}

func readProof(text string, origins []string, set keySet) openedProof {
	head, rest, isCut := strings.Cut(text, "\n\n")
	lines := strings.Split(head, "\n")
	need(isCut && len(lines) > 2 && lines[0] == "c2sp.org/tlog-proof@v1" && strings.HasPrefix(lines[1], "extra "))
	note := parseNote(rest)
	need(note != nil)
	found := openedProof{note: note, checkpoint: parseCheckpoint(note.text)}
	index, isIndex := strings.CutPrefix(lines[2], "index ")
	need(isIndex && wholeSize.MatchString(index))
	place, _ := strconv.ParseUint(index, 10, 64)
	hashes := [][]byte{}
	for _, line := range lines[3:] {
		hash := unbase64(line)
		need(len(hash) == 32)
		hashes = append(hashes, hash)
	}
	need(slices.ContainsFunc(origins, func(origin string) bool {
		after, isSame := strings.CutPrefix(found.checkpoint.origin, origin)
		return isSame && era.MatchString(after)
	}))
	need(set.hasSigned(note, found.checkpoint.origin))
	opened := parseObject(string(unbase64(strings.TrimPrefix(lines[1], "extra "))))
	entry := textAt(opened, "entry")
	leaf := sha256.Sum256([]byte("\x00" + entry))
	need(isIncluded(place, found.checkpoint.size, leaf[:], hashes, found.checkpoint.root))
	found.entry, found.fact, found.salt = parseObject(entry), textAt(opened, "fact"), textAt(opened, "salt")
	return found
}

func (set keySet) hasSigned(note *signedNote, origin string) bool {
	for _, each := range set.Keys {
		raw, isRight := unbase64url(each.X)
		isRevoked := slices.ContainsFunc(set.Revoked, func(key struct{ Kid string }) bool { return key.Kid == each.Kid })
		if isRight && !isRevoked && isSignedNote(note, &noteKey{origin, keyId(origin, 1, raw), 1, raw}) {
			return true
		}
	}
	return false
}

func isSameDigest(fact object, claimed *digested) bool {
	if fact == nil || claimed == nil || claimed.digest == nil {
		return fact == nil && (claimed == nil || claimed.digest == nil)
	}
	return textAt(fact, "digest") == *claimed.digest && wholeOf(fact["bytes"]) == claimed.bytes
}

// The claims as they came, because more of them count here.
func isSameDecision(c claims, raw, fact object) bool {
	at, err := time.Parse(time.RFC3339, textAt(fact, "at"))
	votes, _ := fact["votes"].([]any)
	policy, claimed := objectAt(fact, "policy"), objectAt(raw, "policy")
	isSame := err == nil && at.Unix() == c.iat && textAt(fact, "kind") == "request."+c.decision &&
		textAt(fact, "request") == c.sub && fact["edited"] == raw["edited"] &&
		isSameDigest(nullableObjectAt(fact, "payload"), c.payload) &&
		isSameDigest(nullableObjectAt(fact, "effective"), c.effective) &&
		isSameValue(policy["required"], claimed["required"]) && isSameValue(policy["stages"], claimed["stages"]) &&
		(policy["signature"] == true) == (claimed["signature"] == true) && len(votes) == len(c.by)
	if !isSame {
		return false
	}
	for at, each := range raw["by"].([]any) {
		vote, said := each.(object), votes[at].(object)
		evidence := nullableObjectAt(said, "evidence")
		if evidence == nil {
			evidence = object{"amr": []any{}, "signed": nil, "shown": nil}
		}
		signed, assertion := nullableObjectAt(evidence, "signed"), c.by[at].assertion
		isSame := said["email"] == vote["email"] && said["at"] == vote["at"] && said["for"] == vote["for"] &&
			isSameValue(evidence["amr"], vote["amr"]) && (signed == nil) == (assertion == nil) &&
			(signed == nil || signed["statement"] == assertion["statement"])
		if !isSame || at == len(votes)-1 && !isSameValue(evidence["shown"], raw["shown"]) {
			return false
		}
	}
	return true
}

var ownLog = regexp.MustCompile(`^(.*/log)/([^/]+)(/[1-9][0-9]*)?$`)

// The installation's log at the issuer's address, and at the one of the log that the receipt names.
func sitesOf(c claims, raw object) []string {
	site := strings.TrimPrefix(strings.TrimPrefix(c.iss, "https://"), "http://")
	sites := []string{strings.TrimRight(site, "/") + "/log"}
	if log := nullableObjectAt(raw, "log"); log != nil {
		if named := ownLog.FindStringSubmatch(textAt(log, "origin")); named != nil && named[2] == c.ws {
			sites = append(sites, named[1])
		}
	}
	return sites
}

func checkProof(test receiptCase, c claims, raw object, set keySet) (isWitnessed bool) {
	defer func() {
		if _, isRefused := recover().(refused); isRefused {
			refuse("proof_invalid")
		}
	}()
	if test.Proof == nil {
		need(len(test.Witnesses) == 0)
		return false
	}
	var bundle struct {
		Proof        string
		Installation *struct{ Proof string }
	}
	if json.Unmarshal(test.Proof, &bundle.Proof) != nil {
		need(json.Unmarshal(test.Proof, &bundle) == nil)
	}
	sites, own := sitesOf(c, raw), []string{}
	for _, site := range sites {
		own = append(own, site+"/"+c.ws)
	}
	proof := readProof(bundle.Proof, own, set)
	need(isSalted(proof.entry, "fact", proof.fact, proof.salt))
	need(proof.entry["id"] == raw["jti"] && proof.entry["request"] == c.sub && proof.entry["kind"] == "request."+c.decision)
	need(isSameDecision(c, raw, parseObject(proof.fact)))
	note := proof.note
	if bundle.Installation != nil {
		point := proof.checkpoint
		body := fmt.Sprintf("%s\n%d\n%s\n", point.origin, point.size, base64.StdEncoding.EncodeToString(point.root))
		outer := readProof(bundle.Installation.Proof, sites, set)
		label := sha256.Sum256([]byte("countersign log\x00" + point.origin))
		need(outer.entry["id"] == base64.RawURLEncoding.EncodeToString(label[:]))
		need(outer.entry["kind"] == "checkpoint" && isSalted(outer.entry, "checkpoint", body, outer.salt))
		note = outer.note
	}
	for _, witness := range test.Witnesses {
		key := parseKey(witness)
		need(key != nil && key.kind == 4) // the log's own key would be a witness of itself
		need(isSignedNote(note, key))
	}
	return len(test.Witnesses) > 0
}

type logVectors struct {
	Notes []struct{ Name, Note, Vkey string }
	Trees struct {
		Inclusion []struct {
			Index, Size uint64
			Leaf, Root  []byte
			Proof       [][]byte
		}
		Consistency []struct {
			OldSize, NewSize uint64
			OldRoot, NewRoot []byte
			Proof            [][]byte
		}
	}
	Entries []struct{ Name, Entry, Field, Text, Salt string }
}

func (v logVectors) print() {
	for _, test := range v.Notes {
		said := map[bool]string{true: "signed", false: "refused"}[isSignedNote(parseNote(test.Note), parseKey(test.Vkey))]
		fmt.Printf("note %s: %s\n", test.Name, said)
	}
	for at, test := range v.Trees.Inclusion {
		fmt.Printf("inclusion %d: %t\n", at, isIncluded(test.Index, test.Size, test.Leaf, test.Proof, test.Root))
	}
	for at, test := range v.Trees.Consistency {
		said := isConsistent(test.OldSize, test.NewSize, test.OldRoot, test.NewRoot, test.Proof)
		fmt.Printf("consistency %d: %t\n", at, said)
	}
	for _, test := range v.Entries {
		fmt.Printf("entry %s: %t\n", test.Name, isSalted(parseObject(test.Entry), test.Field, test.Text, test.Salt))
	}
}
