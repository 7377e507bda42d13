// Every change is sent at once, and kept on this device until the server has it.

import { applyAll } from "./state.js";
import { clients, keep, kept, newClient } from "./storage.js";

const MOST_AT_ONCE = 100; // changes in a request
const WAITS = [1, 2, 4, 8, 15, 30]; // seconds before another attempt
const POLL = 20; // seconds between questions for what other devices did
const PATIENCE = 15; // seconds for an answer

export class Sync {
  /**
   * @param {object} state of the server
   * @param {number[]} presented items in their order
   * @param {{changed: Function, status: Function, problem: Function}} listener
   */
  constructor(state, presented, listener) {
    Object.assign(this, { server: state, presented, listener });
    this.client = newClient();
    this.sequence = 0;
    this.failures = 0;
    this.status = "saved";
    this.stopped = this.isKept = true;
    this.isClosed = false; // handed in: nothing can be changed any more
    this.drafted = null; // a name that is being typed, kept on this device alone
    this.queues = new Map(clients(state.assignment).map((client) => [client, kept(state.assignment, client)]));
    this.queues.set(this.client, []);
    this.compute();
  }

  /** Begin to send, and to hear of other tabs. */
  start() {
    this.stopped = false;
    if ("BroadcastChannel" in window) {
      this.channel = new BroadcastChannel(`consilience/${this.server.assignment}`);
      this.channel.onmessage = (event) => this.hear(event.data);
    }
    addEventListener("online", () => this.send());
    addEventListener("offline", () => this.say("offline"));
    addEventListener("focus", () => this.ask());
    addEventListener("pageshow", (event) => event.persisted && this.ask());
    document.addEventListener("visibilitychange", () => this.ask());
    addEventListener("beforeunload", (event) => !this.isKept && this.waiting.length && event.preventDefault());
    setInterval(() => this.ask(), POLL * 1000);
    this.send();
  }

  get address() {
    return `/sort/state?assignment=${encodeURIComponent(this.server.assignment)}`;
  }

  /** Changes that the server has not acknowledged. */
  get waiting() {
    return [...this.queues.values()].flat();
  }

  compute() {
    this.state = applyAll(this.server, this.waiting, this.presented);
  }

  /** Make changes: shown at once, kept, and sent. */
  push(changes) {
    if (this.isClosed) return;
    const queue = this.queues.get(this.client);
    for (const change of changes) queue.push({ sequence: ++this.sequence, ...change });
    this.isKept = this.store(queue);
    this.compute();
    this.send();
  }

  /** Keep a change that is not made yet on this device, in place of the last one, or none. */
  draft(change) {
    if (this.isClosed || (!change && !this.drafted)) return;
    this.drafted = change && { sequence: ++this.sequence, ...change };
    this.store(this.queues.get(this.client));
  }

  /** Keep what waits of this page on this device; whether that worked. */
  store(queue) {
    return keep(this.server.assignment, this.client, this.drafted ? [...queue, this.drafted] : queue);
  }

  /** Send all that waits while the page goes, also what is under way and may be broken off. */
  leave() {
    if (this.stopped) return;
    for (const [client, changes] of this.queues)
      for (let at = 0; at < changes.length; at += MOST_AT_ONCE)
        this.fetch("/sort/changes", this.request(client, changes.slice(at, at + MOST_AT_ONCE)));
  }

  request(client, changes) {
    const body = JSON.stringify({ assignment: this.server.assignment, client, changes });
    return { method: "POST", headers: { "Content-Type": "application/json" }, body, keepalive: body.length < 50000 };
  }

  say(status) {
    const shown = this.isKept || !this.waiting.length ? status : "not_kept";
    if (shown === this.status) return;
    const before = this.status;
    this.status = shown;
    this.listener.status(shown, before);
  }

  /** Send what waits, the oldest page's changes first, until nothing waits. */
  async send() {
    if (this.sending || this.stopped) return;
    this.sending = true;
    clearTimeout(this.later);
    while (this.waiting.length && !this.stopped) {
      if (this.status !== "offline") this.say("saving");
      const [client, queue] = [...this.queues].find(([, changes]) => changes.length);
      if (!(await this.post(client, queue.slice(0, MOST_AT_ONCE)))) break;
    }
    this.sending = false;
    if (!this.waiting.length && !this.stopped) this.say("saved");
  }

  /** Send changes of a page; whether to go on. */
  async post(client, changes) {
    const answer = await this.fetch("/sort/changes", this.request(client, changes));
    if (!answer) return this.retry("offline");
    if (answer.ok) {
      this.acknowledge(client, changes);
      this.adopt(answer.body);
      return true;
    }
    if (answer.status === 422 || answer.status === 413) return this.drop(client, changes, answer);
    if (answer.status === 409) return this.stop("no_longer_open");
    if (answer.status === 401 || answer.status === 403 || answer.status === 404) return this.stop("session_over");
    return this.retry("saving", answer.after);
  }

  async fetch(address, options = {}) {
    try {
      const signal = AbortSignal.timeout(PATIENCE * 1000);
      const response = await fetch(address, { credentials: "same-origin", cache: "no-store", signal, ...options });
      const body = await response.json().catch(() => null);
      if (response.ok && !body) return null; // somebody else's answer: a network that wants a login
      return { ok: response.ok, status: response.status, body, after: Number(response.headers.get("Retry-After")) };
    } catch {
      return null;
    }
  }

  /** Try again later, at the latest when the connection is back. */
  retry(status, after = 0) {
    this.say(status);
    const wait = WAITS[Math.min(this.failures++, WAITS.length - 1)];
    clearTimeout(this.later);
    this.later = setTimeout(() => this.send(), Math.max(wait, after) * 1000);
    return false;
  }

  /** Forget changes that the server has. */
  acknowledge(client, changes) {
    this.failures = 0;
    const last = changes.at(-1).sequence;
    const left = this.queues.get(client).filter((change) => change.sequence > last);
    this.queues.set(client, left);
    const own = client === this.client;
    if (own) this.isKept = this.store(left) || !left.length;
    else keep(this.server.assignment, client, kept(this.server.assignment, client).filter(({ sequence }) => sequence > last));
  }

  /** Take over a later state of the server. */
  adopt(state, fromTab = false) {
    if (state.assignment === this.server.assignment && state.version >= this.server.version) {
      const changed = state.version > this.server.version;
      this.server = state;
      if (changed && !fromTab) this.channel?.postMessage(state);
    }
    this.compute();
    this.listener.changed();
  }

  hear(state) {
    if (state.version > this.server.version) this.adopt(state, true);
  }

  /** A change that the server refuses must not hold up those after it. */
  drop(client, changes, answer) {
    if (changes.length > 1 && answer.status === 422) return this.oneByOne(client, changes);
    this.acknowledge(client, changes);
    this.compute();
    this.listener.changed();
    this.listener.problem("refused", answer.body?.error);
    return true;
  }

  async oneByOne(client, changes) {
    for (const change of changes) if (!(await this.post(client, [change]))) return false;
    return true;
  }

  stop(problem) {
    this.stopped = true;
    if (problem === "no_longer_open") this.close();
    this.listener.problem(problem);
    return false;
  }

  /** Forget what waits: the set is as it was handed in. */
  close() {
    this.isClosed = true;
    this.drafted = null;
    for (const client of this.queues.keys()) {
      keep(this.server.assignment, client, []);
      this.queues.set(client, []);
    }
    this.compute();
    this.listener.changed();
  }

  /** Ask for the state, if the page is looked at. */
  async ask() {
    if (document.hidden || this.stopped || this.sending) return;
    if (this.waiting.length) {
      this.send();
      return;
    }
    const answer = await this.fetch(this.address);
    if (answer?.ok) {
      if (answer.body.version > this.server.version) this.adopt(answer.body);
      if (!this.waiting.length) this.say("saved");
    } else if (!answer) this.say("offline");
    else if (answer.status === 409) this.stop("no_longer_open");
    else if (answer.status === 401 || answer.status === 403) this.stop("session_over");
  }

  /** Send what waits now; whether the server can be reached and has everything. */
  async settled() {
    while (this.sending) await new Promise((done) => setTimeout(done, 50));
    await this.send();
    return !this.waiting.length && Boolean(await this.fetch(this.address));
  }
}
