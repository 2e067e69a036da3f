import './index.js'

export * from './lib/exports.js'
