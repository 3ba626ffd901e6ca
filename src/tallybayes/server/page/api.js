// Requests to the server that served this page; each error is the server's one sentence.

const KEY = "tallybayes-token";

export class Refused extends Error {
  constructor(status, message) {
    super(message);
    this.status = status;
  }
}

export function setToken(token) {
  sessionStorage.setItem(KEY, token);
}

export async function request(path, { body, type = "application/json", headers = {}, signal } = {}) {
  const token = sessionStorage.getItem(KEY);
  if (token) headers = { ...headers, Authorization: `Bearer ${token}` };
  if (body !== undefined) headers = { ...headers, "Content-Type": type };
  let response;
  try {
    response = await fetch(path, { method: body === undefined ? "GET" : "POST", body, headers, signal });
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new Refused(0, "The server does not answer. Is it still running?");
  }
  if (response.ok) return response;
  const said = await response.json().catch(() => ({}));
  throw new Refused(response.status, said.message ?? `The server answered ${response.status}.`);
}

export const getJson = async (path) => (await request(path)).json();

export const postJson = async (path, content, options = {}) =>
  (await request(path, { ...options, body: JSON.stringify(content) })).json();

export const at = (name) => `/models/${encodeURIComponent(name)}`;
