// What was spent today, and a box to try the policy. Text is only ever written as text.
const at = (id) => document.getElementById(id);

async function today() {
  const shown = await (await fetch("today")).json();
  const { mechanism, loss, adjacency, fault } = shown.privatizer;
  at("policy").textContent = fault
    ? `Nothing can be privatized: ${fault}`
    : `Policy ${shown.policy}; mechanism ${mechanism}; loss at most ${loss.toFixed(1)} for each distinct word. ${adjacency}`;
  at("conversations").textContent = shown.conversations;
  at("today").replaceChildren(...shown.today.map((sums) => {
    const row = document.createElement("tr");
    for (const name of ["interface", "requests", "refused", "failed", "words", "loss"]) {
      const cell = document.createElement("td");
      cell.textContent = sums[name];
      row.append(cell);
    }
    return row;
  }));
}

async function privatize() {
  const answer = await fetch("try", {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ text: at("text").value }),
  });
  const shown = await answer.json();
  at("private").textContent = answer.ok ? shown.text : shown.error.message;
  at("spent").textContent = answer.ok
    ? `${shown.words} private words, ${shown.distinct} of them distinct; loss at most ${shown.loss.toFixed(1)}; ${shown.collisions} collisions`
    : "";
}

at("try").addEventListener("click", privatize);
today();
setInterval(today, 5000);
