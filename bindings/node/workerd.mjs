// The entry in edge runtimes, which compile a `.wasm` file that is imported.
import module from './wasm/countersign_wasm_bg.wasm'
import * as wasm from './wasm/countersign_wasm.js'
import native from './lib/native.js'

wasm.initSync({ module })
Object.assign(native, wasm)

export * from './lib/exports.js'
