import { parseArgs } from 'node:util'
import { startScriptedModel } from './server.ts'

const { values } = parseArgs({ options: { port: { type: 'string', default: '0' } } })
const model = await startScriptedModel({ port: Number(values.port) })
process.stdout.write(`${model.url}\n`)
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => void model.close())
