// A client of serve in Go, without libraries: go run client.go URL QUESTION. Prints the answer as it comes.
package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"net/http"
	"os"
	"strings"
)

type message struct {
	Role    string `json:"role,omitempty"`
	Content string `json:"content"`
}

type event struct {
	Choices []struct{ Delta message }
	Error   *struct{ Message string }
}

func main() {
	if len(os.Args) != 3 {
		log.Fatal("usage: go run client.go URL QUESTION")
	}
	body, _ := json.Marshal(map[string]any{
		"messages": []message{{"user", os.Args[2]}}, "stream": true, "temperature": 0,
	})
	response, err := http.Post(os.Args[1]+"/v1/chat/completions", "application/json", bytes.NewReader(body))
	if err != nil {
		log.Fatal(err)
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		reason, _ := io.ReadAll(response.Body)
		log.Fatalf("%s: %s", response.Status, reason)
	}
	lines := bufio.NewScanner(response.Body)
	for lines.Scan() {
		if !strings.HasPrefix(lines.Text(), "data: {") {
			continue
		}
		var e event
		if err := json.Unmarshal([]byte(lines.Text()[len("data: "):]), &e); err != nil {
			log.Fatal(err)
		}
		if e.Error != nil {
			log.Fatal(e.Error.Message)
		}
		for _, choice := range e.Choices {
			fmt.Print(choice.Delta.Content)
		}
	}
	fmt.Println()
}
