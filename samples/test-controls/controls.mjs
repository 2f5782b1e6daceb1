// Turns the clock of a Zaffre server and makes requests fail, from JavaScript tests.
// Copy this file into your project. The server must run with --test-controls.

export class Controls {
  constructor(console = "http://127.0.0.1:10080") {
    this.console = console.replace(/\/$/, "");
  }

  async #ask(method, path, body) {
    const headers = { "Content-Type": "application/json" };
    const answer = await fetch(this.console + path, {
      method,
      headers,
      body: body && JSON.stringify(body),
    });
    const said = await answer.json();
    if (!answer.ok) throw new Error(`${answer.status}: ${said.error}`);
    return said;
  }

  // The clock: "15s", "2m", "7d", or seconds.
  clock() {
    return this.#ask("GET", "/test/clock");
  }
  freeze() {
    return this.#ask("POST", "/test/clock", { action: "freeze" });
  }
  advance(by) {
    return this.#ask("POST", "/test/clock", { action: "advance", by });
  }
  resume() {
    return this.#ask("POST", "/test/clock", { action: "resume" });
  }

  // Faults: action busy, internal, condition, reset or delay; service, operation, container, nth,
  // times, when, delay_ms.
  async faults() {
    return (await this.#ask("GET", "/test/faults")).faults;
  }
  async addFault(action, rule = {}) {
    return (await this.#ask("POST", "/test/faults", { action, ...rule })).id;
  }
  removeFault(id) {
    return this.#ask("DELETE", `/test/faults/${id}`);
  }
  clearFaults() {
    return this.#ask("DELETE", "/test/faults");
  }
}
