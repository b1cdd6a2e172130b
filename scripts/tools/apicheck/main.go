// Command apicheck holds JSON against the schemas of an OpenAPI document, for the tests of
// serve. It reads the document, then requests, and answers each with a text, "" for what is
// valid. It is a module of its own so that the program does not need the library.
package main

import (
	"encoding/json"
	"fmt"
	"io"
	"log"
	"os"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// A request asks for the schema at a JSON pointer.
type request struct{ At, Body string }

func main() {
	if err := run(json.NewDecoder(os.Stdin), json.NewEncoder(os.Stdout)); err != nil && err != io.EOF {
		log.Fatal(err)
	}
}

func run(in *json.Decoder, out *json.Encoder) error {
	var document json.RawMessage
	if err := in.Decode(&document); err != nil {
		return err
	}
	parsed, err := jsonschema.UnmarshalJSON(strings.NewReader(string(document)))
	if err != nil {
		return err
	}
	c := jsonschema.NewCompiler()
	c.AssertFormat()
	if err := c.AddResource("api.json", parsed); err != nil {
		return err
	}
	for {
		var r request
		if err := in.Decode(&r); err != nil {
			return err
		}
		text := ""
		if err := check(c, r); err != nil {
			text = fmt.Sprint(err)
		}
		if err := out.Encode(text); err != nil {
			return err
		}
	}
}

func check(c *jsonschema.Compiler, r request) error {
	schema, err := c.Compile("api.json#" + strings.NewReplacer("{", "%7B", "}", "%7D").Replace(r.At))
	if err != nil {
		return err
	}
	v, err := jsonschema.UnmarshalJSON(strings.NewReader(r.Body))
	if err != nil {
		return err
	}
	return schema.Validate(v)
}
