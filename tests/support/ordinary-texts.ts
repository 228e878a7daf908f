// Typical texts of requests, with the estimate before it became an upper bound.

type OrdinaryText = {
  readonly name: string;
  readonly text: string;
  readonly estimatedBefore: number;
};

export const ordinaryTexts: readonly OrdinaryText[] = [
  {
    name: 'English prose',
    estimatedBefore: 376,
    text: `It was the second week of March when the ice on the lake began to break. Every morning my grandfather walked down to the
shore, looked across the water for a while, and came back without a word. "It isn't ready," he'd say, if anybody asked him; and
nobody did, because we all knew what he was waiting for. The old boat, which had spent three winters upside down behind the barn,
had been painted twice since Christmas. People from the village said that he would never sail again, that his knees wouldn't carry
him, that the weather had changed. He listened politely, thanked them for their concern, and went on sharpening his knife.`,
  },
  {
    name: 'English questions and answers',
    estimatedBefore: 316,
    text: `You are a helpful assistant for the customers of a hardware store. Answer briefly. If you don't know, say so.

Q: Which screws should I use for a 40 mm oak board?
A: Use 4 x 60 mm countersunk wood screws (stainless steel if it's outdoors), and drill a 3 mm hole first.

Please summarise the following conversation in at most three bullet points:
- keep names, dates and amounts of money (e.g. $1,250.00 on 12 May 2025);
- don't add anything that wasn't said;
- write "unknown" where the answer is missing.`,
  },
  {
    name: 'TypeScript',
    estimatedBefore: 465,
    text: `import { createServer } from 'node:http';

export async function loadUsers(client: Client, { limit = 50, offset = 0 }: Page = {}): Promise<User[]> {
  const rows = await client.query('SELECT id, name, created_at FROM users ORDER BY id LIMIT $1 OFFSET $2', [limit, offset]);
  return rows.map((row) => ({ id: row.id, name: row.name ?? 'unknown', createdAt: new Date(row.created_at) }));
}

const server = createServer((request, response) => {
  if (request.method !== 'GET') {
    response.writeHead(405, { 'content-type': 'application/json' });
    return response.end(JSON.stringify({ error: 'method_not_allowed' }));
  }
  for (let index = 0; index < handlers.length; index++) {
    if (handlers[index].matches(request.url)) return handlers[index].handle(request, response);
  }
});
`,
  },
  {
    name: 'Python',
    estimatedBefore: 414,
    text: `from dataclasses import dataclass
import numpy as np

@dataclass
class Result:
    loss: float
    steps: int = 0

def train(model, batches, learning_rate=1e-3, max_steps=10_000):
    """Run gradient descent until the loss stops falling."""
    best = Result(loss=float("inf"))
    for step, (inputs, targets) in enumerate(batches):
        if step >= max_steps:
            break
        prediction = model.forward(inputs)
        loss = np.mean((prediction - targets) ** 2)
        model.backward(2 * (prediction - targets) / len(targets))
        model.weights -= learning_rate * model.gradient
        if loss < best.loss:
            best = Result(loss=loss, steps=step)
    return best
`,
  },
  {
    name: 'Go and C',
    estimatedBefore: 369,
    text: `func (s *Server) handleUpload(w http.ResponseWriter, r *http.Request) {
	file, header, err := r.FormFile("file")
	if err != nil {
		http.Error(w, "missing file: "+err.Error(), http.StatusBadRequest)
		return
	}
	defer file.Close()
	if header.Size > s.maxBytes {
		http.Error(w, fmt.Sprintf("file is larger than %d bytes", s.maxBytes), http.StatusRequestEntityTooLarge)
		return
	}
}

static int compare_entries(const void *left, const void *right)
{
	const struct entry *a = left, *b = right;
	if (a->hash != b->hash)
		return a->hash < b->hash ? -1 : 1;
	return strcmp(a->name, b->name);
}
`,
  },
  {
    name: 'HTML and CSS',
    estimatedBefore: 299,
    text: `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8" />
    <title>Order overview</title>
    <style>
      .card { display: flex; padding: 12px 16px; border: 1px solid #d0d7de; border-radius: 6px; }
      .card:hover > .title { color: var(--accent-color); text-decoration: underline; }
    </style>
  </head>
  <body>
    <div class="card" id="order-1042"><span class="title">Two boxes of nails</span><a href="/orders/1042">Details</a></div>
  </body>
</html>
`,
  },
  {
    name: 'JSON',
    estimatedBefore: 320,
    text: `{"order":{"id":"ord_10428","created_at":"2025-05-12T09:41:07Z","status":"shipped","customer":{"name":"Maria Keller","email":"maria@example.com","newsletter":false},"items":[{"sku":"NAIL-40","description":"Nails, 40 mm, box of 500","quantity":2,"price":{"amount":8.95,"currency":"EUR"}},{"sku":"SAW-7","description":"Hand saw","quantity":1,"price":{"amount":24.5,"currency":"EUR"}}],"shipping_address":{"street":"Lindenweg 4","city":"Bern","postal_code":"3012","country":"CH"},"notes":null}}`,
  },
  {
    name: 'indented JSON',
    estimatedBefore: 249,
    text: `{
  "type": "object",
  "properties": {
    "location": {
      "type": "string",
      "description": "The city and state, for example San Francisco, CA"
    },
    "unit": {
      "type": "string",
      "enum": ["celsius", "fahrenheit"]
    },
    "days": {
      "type": "integer",
      "minimum": 1,
      "maximum": 14
    }
  },
  "required": ["location"],
  "additionalProperties": false
}
`,
  },
];
