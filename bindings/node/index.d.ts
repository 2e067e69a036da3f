/** JSON text as bytes or as a string, or a value. */
export type Json = Uint8Array | string | object | number | boolean | null

export type Decision = 'allowed' | 'flagged' | 'rewritten' | 'blocked'
export type Era = 'legacy' | 'modern'
export type Mode = 'off' | 'warn' | 'strict'

/** One thing that was noticed. It names rules, places and types, never a value of the result. */
export interface Finding {
  stage: string
  rule: string
  severity: 'info' | 'violation' | 'attack'
  instancePointer: string | null
  schemaPointer: string | null
  expected: string | null
  actual: string | null
  detail: string | null
  hit?: Record<string, unknown>
}

/** The keys of the gateway's `mcp_config.json` that are about inspection. */
export interface Settings {
  output_validation?: Record<string, unknown> & { mode?: Mode }
  input_validation?: { mode?: Mode }
  output_sanitisation?: Record<string, unknown>
  max_message_bytes?: number
  max_message_depth?: number
  activity?: { on_store_error?: 'auto' | 'refuse' | 'continue' }
  tools?: Record<
    string,
    {
      output_validation?: Record<string, unknown> & { mode?: Mode }
      input_validation?: { mode?: Mode }
      output_sanitisation?: Record<string, unknown>
      free_text?: boolean
    }
  >
}

export interface InspectorOptions {
  /** The server's name, for records and reasons. */
  server?: string
  /** Called with each record, a JSON object as text, before the bytes go on. */
  onRecord?: (record: string) => void
}

export interface ReadingOptions {
  /** What the server negotiated. */
  era?: Era
  /** What the client negotiated, if it did. */
  client?: Era
  /** The id token that a response must carry. */
  id?: string
}

export interface StdioServer {
  command: string
  args?: string[]
  env?: Record<string, string>
  cwd?: string
  stderr?: 'inherit' | 'ignore' | 'pipe'
}

/** What the MCP SDK calls a transport. */
export interface TransportLike {
  start(): Promise<void>
  // eslint-disable-next-line @typescript-eslint/no-explicit-any
  send(message: any, options?: any): Promise<void>
  close(): Promise<void>
  onclose?: (() => void) | undefined
  onerror?: ((error: Error) => void) | undefined
  // eslint-disable-next-line @typescript-eslint/no-explicit-any
  onmessage?: ((message: any, extra?: any) => void) | undefined
}

export type FetchLike = (input: string | URL, init?: RequestInit) => Promise<Response>

export type ValidatorResult<T> =
  | { valid: true; data: T; errorMessage: undefined }
  | { valid: false; data: undefined; errorMessage: string }

/** What the MCP SDK takes as `jsonSchemaValidator`. */
export interface JsonSchemaValidator {
  getValidator<T>(schema: object): (input: unknown) => ValidatorResult<T>
}

export class Tool {
  private constructor()
  readonly name: string
  /** Why a declared schema cannot be enforced as written, if it cannot. */
  readonly diagnostics: string[]
}

/** What was decided about one result. */
export class Verdict {
  private constructor()
  readonly decision: Decision
  /** One sentence: why the decision is not `allowed`. */
  readonly reason: string | undefined
  readonly findings: Finding[]
  readonly tool: string
  readonly mode: Mode
  /** Whether the bytes as received were judged, or a value that was parsed before. */
  readonly fidelity: 'bytes' | 'value'
  /** What may be passed on. Of a blocked result, the error that takes its place. */
  readonly bytes: Uint8Array
  readonly isBlocked: boolean
  /** The structured content; `undefined` if there is none or the result was blocked. */
  structured<T = unknown>(): T | undefined
  /** Throws `Blocked` for those who prefer an exception. */
  throwIfBlocked(): this
}

export interface InputVerdict {
  decision: Decision
  reason: string | undefined
  findings: Finding[]
}

/** Contracts of one server's tools, and the settings that its results are held to. */
export class Inspector {
  constructor(settings?: Settings, options?: InspectorOptions)
  readonly server: string | undefined
  /** Adds a tool, an element of a tool list. */
  declare(tool: Json): Tool
  /** The tool of this name; it declares nothing if it is not known. */
  tool(name: string): Tool
  /** Judges a result or a whole response: the bytes as received, or a value. */
  result(tool: Tool | string, reply: Json, options?: ReadingOptions): Verdict
  /** Judges a call's arguments before it is sent. */
  arguments(tool: Tool | string, args?: Json): InputVerdict
  /** A `fetch` that inspects what comes back; it goes around `next`, by default the global one. */
  fetch(next?: (input: any, init?: any) => Promise<Response>): (input: any, init?: any) => Promise<Response>
  /** A transport that starts a server and inspects what it writes. */
  stdio(server: StdioServer): TransportLike & { readonly pid: number | null }
  /** Goes around any transport, where messages are values already. */
  guard<T extends TransportLike>(transport: T, options?: { require?: 'bytes' }): TransportLike
  /** A validator for the SDK's own second look. */
  validator(): JsonSchemaValidator
}

/** A compiled schema. */
export class Schema {
  private constructor()
  static compile(schema: Json, options?: { dialect?: string; assertFormats?: boolean }): Schema
  /** Whether `data` conforms; bytes and strings are JSON text, anything else is a value. */
  isValid(data: Json): boolean
  /** Throws `Violation` if `data` does not conform. */
  validate(data: Json): void
}

export interface Sanitised {
  text: string
  findings: Record<string, unknown>[]
  /** The text must not be passed on, and is empty. */
  blocked: boolean
}

/** Cleans a text under an `output_sanitisation` block. */
export function sanitise(text: string, settings?: Record<string, unknown>): Sanitised

/** A setting that cannot be used. */
export class ConfigError extends Error {
  readonly key: string
  readonly allowed: string[]
}

/** A schema that cannot be enforced as written. */
export class Unenforceable extends Error {
  readonly kind: string
  readonly pointer: string
}

/** A value that does not conform. */
export class Violation extends Error {
  readonly keyword: string
  readonly instancePointer: string
  readonly schemaPointer: string
  readonly expected: string
  readonly actual: string
}

/** Judging the value costs more than it may. */
export class Exhausted extends Error {}
/** The text is not JSON. */
export class NotJson extends Error {}
/** Thrown by `Verdict.throwIfBlocked`. */
export class Blocked extends Error {
  readonly verdict: Verdict
}
