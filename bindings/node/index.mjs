import countersign from './index.js'

export const {
  Blocked,
  ConfigError,
  Exhausted,
  Inspector,
  NotJson,
  Schema,
  Tool,
  Unenforceable,
  Verdict,
  Violation,
  sanitise,
} = countersign
