// Renders the templates of a chart as `helm template` does, with the functions of Helm that the chart uses: its input and
// its output are JSON. The functions follow their documents at helm.sh; anything else is an unknown function.
package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"os"
	"reflect"
	"regexp"
	"sort"
	"strconv"
	"strings"
	"text/template"
)

type input struct {
	Templates map[string]string
	Files     map[string]string
	Context   map[string]interface{}
}

// A file of the chart, as `.Files.Get` reads it.
type files map[string]string

func (all files) Get(name string) string { return all[name] }

func main() {
	var in input
	decoder := json.NewDecoder(os.Stdin)
	decoder.UseNumber()
	if err := decoder.Decode(&in); err != nil {
		fail(err)
	}
	rendered, err := render(in)
	if err != nil {
		fail(err)
	}
	if err := json.NewEncoder(os.Stdout).Encode(rendered); err != nil {
		fail(err)
	}
}

func fail(err error) {
	fmt.Fprintln(os.Stderr, err)
	os.Exit(1)
}

func render(in input) (map[string]string, error) {
	// A missing value is empty, as in Helm.
	all := template.New("chart").Option("missingkey=zero")
	all.Funcs(functions(all))
	for name, text := range in.Templates {
		if _, err := all.New(name).Parse(text); err != nil {
			return nil, err
		}
	}
	context := withIntegers(in.Context).(map[string]interface{})
	context["Files"] = files(in.Files)
	context["Template"] = map[string]interface{}{"BasePath": "templates"}
	rendered := map[string]string{}
	for name := range in.Templates {
		if strings.HasPrefix(name[strings.LastIndex(name, "/")+1:], "_") {
			continue
		}
		var out bytes.Buffer
		if err := all.ExecuteTemplate(&out, name, context); err != nil {
			return nil, err
		}
		rendered[name] = strings.ReplaceAll(out.String(), "<no value>", "")
	}
	return rendered, nil
}

func functions(all *template.Template) template.FuncMap {
	return template.FuncMap{
		"include": func(name string, data interface{}) (string, error) {
			var out bytes.Buffer
			err := all.ExecuteTemplate(&out, name, data)
			return out.String(), err
		},
		"fail":       func(message string) (string, error) { return "", fmt.Errorf("%s", message) },
		"toYaml":     func(value interface{}) string { return strings.TrimSuffix(toYaml(value, ""), "\n") },
		"nindent":    func(spaces int, text string) string { return "\n" + indent(spaces, text) },
		"indent":     indent,
		"quote":      func(value interface{}) string { return strconv.Quote(toText(value)) },
		"trunc":      func(length int, text string) string { return text[:min(length, len(text))] },
		"trimSuffix": func(suffix, text string) string { return strings.TrimSuffix(text, suffix) },
		"join":       func(separator string, list []interface{}) string { return strings.Join(toTexts(list), separator) },
		"list":       func(values ...interface{}) []interface{} { return values },
		"int":        func(value interface{}) (int, error) { return strconv.Atoi(toText(value)) },
		"sha256sum":  func(text string) string { return fmt.Sprintf("%x", sha256.Sum256([]byte(text))) },
		"hasKey":     func(dict map[string]interface{}, key string) bool { _, has := dict[key]; return has },
		"has": func(needle interface{}, list []interface{}) bool {
			for _, one := range list {
				if reflect.DeepEqual(one, needle) {
					return true
				}
			}
			return false
		},
		"default": func(standard, value interface{}) interface{} {
			if truth, _ := template.IsTrue(value); truth {
				return value
			}
			return standard
		},
	}
}

func indent(spaces int, text string) string {
	pad := strings.Repeat(" ", spaces)
	return pad + strings.ReplaceAll(text, "\n", "\n"+pad)
}

func min(a, b int) int {
	if a < b {
		return a
	}
	return b
}

func toText(value interface{}) string {
	if value == nil {
		return ""
	}
	return fmt.Sprint(value)
}

func toTexts(list []interface{}) []string {
	texts := []string{}
	for _, one := range list {
		texts = append(texts, toText(one))
	}
	return texts
}

// Templates compare numbers, and print them without an exponent.
func withIntegers(value interface{}) interface{} {
	switch value := value.(type) {
	case json.Number:
		if number, err := value.Int64(); err == nil {
			return int(number)
		}
		number, _ := value.Float64()
		return number
	case []interface{}:
		for at, one := range value {
			value[at] = withIntegers(one)
		}
	case map[string]interface{}:
		for key, one := range value {
			value[key] = withIntegers(one)
		}
	}
	return value
}

var plain = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9./_-]*$`)
var notText = regexp.MustCompile(`(?i)^(true|false|yes|no|on|off|y|n|null|nan)$`)

func scalar(value interface{}) string {
	text, isText := value.(string)
	switch {
	case value == nil:
		return "null"
	case !isText:
		return toText(value)
	case plain.MatchString(text) && !notText.MatchString(text):
		return text
	}
	return strconv.Quote(text)
}

// Block style, keys in order, lists at the column of their key.
func toYaml(value interface{}, pad string) string {
	switch value := value.(type) {
	case []interface{}:
		if len(value) == 0 {
			return pad + "[]\n"
		}
		out := ""
		for _, one := range value {
			out += pad + "- " + strings.TrimPrefix(toYaml(one, pad+"  "), pad+"  ")
		}
		return out
	case map[string]interface{}:
		if len(value) == 0 {
			return pad + "{}\n"
		}
		keys := []string{}
		for key := range value {
			keys = append(keys, key)
		}
		sort.Strings(keys)
		out := ""
		for _, key := range keys {
			out += pad + scalar(key) + ":" + below(value[key], pad)
		}
		return out
	}
	return pad + scalar(value) + "\n"
}

func below(value interface{}, pad string) string {
	switch value := value.(type) {
	case []interface{}:
		if len(value) > 0 {
			return "\n" + toYaml(value, pad)
		}
	case map[string]interface{}:
		if len(value) > 0 {
			return "\n" + toYaml(value, pad+"  ")
		}
	}
	return " " + toYaml(value, "")
}
