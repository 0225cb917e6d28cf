/** Prints what happens in all sessions, and goes on where it was when it is started again: `node watch.ts cursor.json` */
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { connect, type Cursor, type Event } from 'corral/client'

const [file = 'cursor.json'] = process.argv.slice(2)

function line(event: Event): string | null {
  switch (event.type) {
    case 'session.created':
      return `${event.agent} in ${event.cwd}`
    case 'tool.started':
      return `uses ${event.tool}`
    case 'approval.requested':
      return event.open ? `asks about ${event.approval.tool}` : null
    case 'turn.completed':
      return `answers: ${event.text?.split('\n')[0] ?? ''}`
    case 'turn.failed':
      return `fails: ${event.error.message}`
    default:
      return null
  }
}

await using corral = await connect()
process.once('SIGINT', () => corral.close())

const from = existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as Cursor) : 'start'
const events = corral.events({
  from,
  onGap: () => 'start',
  onLink: (state) => console.error(state === 'away' ? '(the daemon is away)' : '(it is back)'),
})
for await (const event of events) {
  const text = line(event)
  if (text === null) continue
  console.log(`${event.sessionId.slice(-8)} ${text}`)
  writeFileSync(file, JSON.stringify(events.cursor))
}
