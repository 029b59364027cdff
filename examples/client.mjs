// A client of serve in node, without libraries: node client.mjs URL QUESTION. Prints the answer as it comes.
const [url, question] = process.argv.slice(2);
const response = await fetch(url + "/v1/chat/completions", {
	method: "POST",
	headers: { "Content-Type": "application/json" },
	body: JSON.stringify({ messages: [{ role: "user", content: question }], stream: true, temperature: 0 }),
});
if (!response.ok)
	throw new Error((await response.json()).error.message);
let rest = "";
for await (const piece of response.body.pipeThrough(new TextDecoderStream())) {
	const lines = (rest + piece).split("\n");
	rest = lines.pop();
	for (const line of lines.filter(line => line.startsWith("data: {"))) {
		const event = JSON.parse(line.slice(6));
		if (event.error)
			throw new Error(event.error.message);
		process.stdout.write(event.choices[0].delta.content ?? "");
	}
}
console.log();
