// Prints what Go says of each published vector, one line for each: `go run . proof-vectors.json`.

package main

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"
)

const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"

type vectors struct {
	KeySets  map[string]keySet
	Receipts []receiptCase
	Flips    struct{ Of receiptCase }
	logVectors
}

func main() {
	text, err := os.ReadFile(os.Args[1])
	if err != nil {
		panic(err)
	}
	var file vectors
	if err := json.Unmarshal(text, &file); err != nil {
		panic(err)
	}
	for _, test := range file.Receipts {
		fmt.Printf("%s: %s\n", test.Name, verifyReceipt(test, test.Receipt, file.KeySets[test.KeySet]))
	}
	test := file.Flips.Of
	for at := range test.Receipt {
		fmt.Printf("flip %d: %s\n", at, verifyReceipt(test, flipped(test.Receipt, at), file.KeySets[test.KeySet]))
	}
	file.logVectors.print()
}

func flipped(receipt string, at int) string {
	other := byte('A')
	if receipt[at] != '.' {
		other = alphabet[(strings.IndexByte(alphabet, receipt[at])+1)%64]
	}
	return receipt[:at] + string(other) + receipt[at+1:]
}
