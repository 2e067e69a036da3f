// `fetch` for files, which Node does not have: browsers load the WebAssembly module beside the script that imports it.
import { readFile } from 'node:fs/promises'

const { fetch } = globalThis
globalThis.fetch = async (input, init) => {
  const url = new URL(input?.url ?? input)
  if (url.protocol !== 'file:') return fetch(input, init)
  return new Response(await readFile(url), { headers: { 'content-type': 'application/wasm' } })
}
