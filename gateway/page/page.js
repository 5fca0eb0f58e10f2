// A box to try the policy, and what was spent today. Text is only ever written as text.
const at = (id) => document.getElementById(id);
const loss = (number) => number.toLocaleString("en", { minimumFractionDigits: 1, maximumFractionDigits: 1 });
const count = (number) => number.toLocaleString("en");
const plural = (number, one, many) => `${count(number)} ${number === 1 ? one : many}`;
const NAMES = { openai: "OpenAI", anthropic: "Anthropic" };

// A gateway with a token wants it from its page too: from the address (#token=...), which no server gets to see, or from the
// form. It is kept until the tab is closed.
const KEY = "brr-token";
const given = new URLSearchParams(location.hash.slice(1)).get("token");
if (given) {
  sessionStorage.setItem(KEY, given);
  history.replaceState(null, "", location.pathname);
}

async function ask(path, options = {}) {
  const token = sessionStorage.getItem(KEY);
  const answer = await fetch(path, { ...options, headers: { ...options.headers, ...(token ? { "x-brr-token": token } : {}) } });
  at("locked").hidden = answer.status !== 401;
  return answer;
}

function row(cells) {
  const line = document.createElement("tr");
  for (const text of cells) line.insertCell().textContent = text;
  return line;
}

function fault(message) {
  at("fault").hidden = !message;
  at("fault").textContent = message;
}

function about({ mechanism, loss: most, adjacency, model }, policy) {
  const facts = [["name and identity", policy], ["mechanism", mechanism], ["loss", `at most ${loss(most)} for each distinct private word`], ["model", model.slice(0, 12)]];
  at("policy").replaceChildren(...facts.flatMap(([name, fact]) => {
    const [term, said] = [document.createElement("dt"), document.createElement("dd")];
    [term.textContent, said.textContent] = [name, fact];
    return [term, said];
  }));
  at("adjacency").textContent = adjacency;
}

async function today() {
  let shown;
  try {
    const answer = await ask("today");
    shown = await answer.json();
    if (!answer.ok) return fault(answer.status === 401 ? "" : shown.error.message);
  } catch {
    return fault("The gateway does not answer. Is it still running?");
  }
  const { fault: why } = shown.privatizer;
  fault(why ? `Nothing can be privatized, so every request is refused: ${why}` : "");
  if (!why) about(shown.privatizer, shown.policy);
  at("conversations").textContent = shown.conversations;
  at("today").replaceChildren(...shown.today.map((sums) =>
    row([NAMES[sums.interface], ...["requests", "refused", "failed", "words"].map((name) => count(sums[name])), loss(sums.loss)])));
  at("last").replaceChildren(...shown.last.map((one) => {
    const time = new Date(one.seconds * 1000).toISOString().slice(11, 19);
    const spent = one.loss === null ? ["", "not sent"] : [count(one.words), loss(one.loss)];
    return row([time, NAMES[one.interface], one.conversation ?? "", one.status, ...spent]);
  }));
  at("requests").hidden = shown.last.length === 0;
}

async function privatize() {
  at("try").disabled = true;
  let [text, spent, bad] = ["The gateway does not answer. Is it still running?", "", true];
  try {
    const answer = await ask("try", {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ text: at("text").value }),
    });
    const shown = await answer.json();
    bad = !answer.ok;
    text = bad ? shown.error.message : shown.text;
    spent = bad ? "" : `${plural(shown.words, "private word", "private words")}, ${count(shown.distinct)} distinct; loss at most ${loss(shown.loss)}; `
      + `${plural(shown.collisions, "surrogate stands", "surrogates stand")} for more than one word. Each try is drawn anew.`;
  } catch {}
  at("private").textContent = text;
  at("private").classList.toggle("bad", bad);
  at("private").hidden = false;
  at("spent").textContent = spent;
  at("try").disabled = false;
}

at("unlock").addEventListener("submit", (event) => {
  event.preventDefault();
  sessionStorage.setItem(KEY, at("token").value);
  at("token").value = "";
  today();
});
at("try").addEventListener("click", privatize);
today();
setInterval(today, 5000);
