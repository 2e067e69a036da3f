// Packs the npm packages: one for each addon in a folder, and the one that users install, which names them all.
//
//   node packages.mjs ADDONS OUT
import { execFileSync } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'

const [addons, out] = process.argv.slice(2).map((path) => resolve(path))
const source = fileURLToPath(new URL('..', import.meta.url))
const manifest = JSON.parse(readFileSync(join(source, 'package.json'), 'utf8'))
mkdirSync(out, { recursive: true })

function pack(folder, contents) {
  writeFileSync(join(folder, 'package.json'), `${JSON.stringify(contents, null, 2)}\n`)
  execFileSync('npm', ['pack', '--silent', '--pack-destination', out], { cwd: folder, shell: process.platform === 'win32' })
}

const optionalDependencies = {}
for (const file of readdirSync(addons).filter((file) => file.endsWith('.node'))) {
  const platform = file.split('.')[1]
  const [os, cpu, libc] = platform.split('-')
  const name = `${manifest.name}-${platform}`
  const folder = mkdtempSync(join(tmpdir(), 'addon-'))
  cpSync(join(addons, file), join(folder, file))
  const { version, license, repository, engines } = manifest
  const description = `The addon of ${manifest.name} for ${platform}.`
  const limits = os === 'linux' ? { libc: [libc === 'gnu' ? 'glibc' : libc] } : {}
  pack(folder, { name, version, description, license, repository, engines, main: file, files: [file], os: [os], cpu: [cpu], ...limits })
  optionalDependencies[name] = version
}
const folder = mkdtempSync(join(tmpdir(), 'package-'))
const entries = readdirSync(source).filter((file) => /\.(js|mjs|ts|mts)$/.test(file))
for (const file of [...entries, 'lib', 'wasm', 'README.md']) {
  cpSync(join(source, file), join(folder, file), { recursive: true })
}
pack(folder, { ...manifest, optionalDependencies })
