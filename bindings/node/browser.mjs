// The entry in browsers, and in anything else that has WebAssembly and `fetch`.
import init, * as wasm from './wasm/countersign_wasm.js'
import native from './lib/native.js'

await init({ module_or_path: new URL('./wasm/countersign_wasm_bg.wasm', import.meta.url) })
Object.assign(native, wasm)

export * from './lib/exports.js'
