/** Asks an agent something and prints the answer as it is written: `node ask.ts 'Why does the build fail?' claude` */
import { connect, TurnFailed } from 'corral/client'

const [question = 'What is in this directory?', agent] = process.argv.slice(2)

await using corral = await connect()
const session = await corral.sessions.start({ agent, directory: '.' })
try {
  const { usage, cost } = await session.turn(question, {
    onText: (piece) => process.stdout.write(piece),
    signal: AbortSignal.timeout(10 * 60_000),
  })
  console.log(`\n(${usage.outputTokens} tokens, ${cost === null ? 'cost unknown' : `$${cost}`})`)
} catch (error) {
  if (!(error instanceof TurnFailed)) throw error
  console.error(`${error.code}: ${error.message}`)
  process.exitCode = 1
}
