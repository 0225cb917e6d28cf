import type { Book } from './player.ts'

/* What is said and done in the scene: a working day of somebody with several agents. */

export const RETRY_OLD = `import { send } from './send.ts'
import type { Webhook } from './webhook.ts'

export async function deliver(hook: Webhook): Promise<void> {
  await send(hook.url, hook.body)
}
`

export const RETRY_NEW = `import { setTimeout } from 'node:timers/promises'
import { send } from './send.ts'
import type { Webhook } from './webhook.ts'

const TRIES = 5
const FIRST_MS = 250

/** Tries again with twice the pause, unless the receiver says that it never will. */
export async function deliver(hook: Webhook): Promise<void> {
  for (let tried = 1; ; tried++) {
    const { status } = await send(hook.url, hook.body)
    if (status < 400) return
    if (status === 410 || tried === TRIES) throw new DeliveryFailed(hook, status)
    await setTimeout(FIRST_MS * 2 ** tried)
  }
}
`

export const STORE_OLD = `export const sessions = new Map<string, Session>()

export function open(user: User): string {
  const id = randomUUID()
  sessions.set(id, { user, since: Date.now() })
  return id
}
`

export const STORE_NEW = `const HOUR = 60 * 60

export async function open(user: User): Promise<string> {
  const id = randomUUID()
  await redis.set(\`session:\${id}\`, JSON.stringify({ user, since: Date.now() }), { EX: 12 * HOUR })
  return id
}
`

const INDEX = `The index is rebuilt from scratch on every write, so the time grows with the number of documents.

| documents | rebuild | one entry |
|--:|--:|--:|
| 1,000 | 38 ms | 0.2 ms |
| 50,000 | 1,940 ms | 0.3 ms |
| 250,000 | 11,200 ms | 0.3 ms |

I will change it in three steps:

1. keep the postings per term in a sorted list
2. write only the terms of the changed document
3. merge the lists in the background, at most once a second

\`\`\`ts
export function put(index: Index, id: number, terms: readonly string[]): void {
  for (const term of terms) {
    const postings = index.get(term) ?? []
    index.set(term, insertSorted(postings, id))
  }
}
\`\`\`

The reader stays as it is: it never sees a list that is half merged, because a merge replaces it as a whole. `

const TODOS = [
  { content: 'Read how webhooks are delivered today', status: 'completed' },
  { content: 'Try again with a growing pause', status: 'completed' },
  { content: 'Run the tests', status: 'in_progress' },
  { content: 'Describe the new setting', status: 'pending' },
]

export const MESSAGES = {
  retry: 'Webhooks get lost when the receiver is down for a minute. Retry them with backoff.',
  store: 'Sessions are lost on every deploy. Keep them in Redis.',
  audit: 'We need an audit log. Where should it go?',
  index: 'Search gets slow with many documents. Find out why and fix it.',
  review: 'Review the payment module: errors, limits, and what is not tested.',
} as const

/** What Claude does about each of these messages, in a project directory. */
export function bookFor(project: string): Book {
  return {
    [MESSAGES.retry]: {
      costUsd: 0.41,
      tokens: 48_000,
      deeds: [
        {
          think:
            'The delivery is a single attempt. I should look at who calls it before I change what it throws.',
        },
        { say: 'I will look at how they are delivered today.' },
        { use: 'TodoWrite', input: { todos: TODOS }, output: 'ok' },
        {
          use: 'Grep',
          input: { pattern: 'deliver\\(', path: `${project}/src` },
          output: 'src/queue.ts:41\nsrc/admin/replay.ts:17',
        },
        { use: 'Read', input: { file_path: `${project}/src/deliver.ts` }, output: RETRY_OLD },
        {
          use: 'Edit',
          input: { file_path: `${project}/src/deliver.ts`, old_string: RETRY_OLD, new_string: RETRY_NEW },
          output: 'The file has been updated.',
          file: RETRY_NEW,
        },
        {
          say: 'A delivery is now tried up to **five times**, with a pause that doubles from 250 ms. A receiver that answers `410 Gone` is never asked again.\n\nTo be sure I would like to run the tests.',
        },
        {
          use: 'Bash',
          input: { command: 'npm test -- webhooks', description: 'Run the tests of the webhooks' },
          ask: true,
          output: 'ok',
        },
        { say: 'All 14 tests pass.' },
      ],
    },
    [MESSAGES.store]: {
      deeds: [
        {
          say: 'Sessions live in a `Map` of the process. I would move them to the Redis that the queue already uses, with an expiry of twelve hours.',
        },
        {
          use: 'Edit',
          input: { file_path: `${project}/src/store.ts`, old_string: STORE_OLD, new_string: STORE_NEW },
          ask: true,
          output: 'The file has been updated.',
          file: STORE_NEW,
        },
        { say: 'Done.' },
      ],
    },
    [MESSAGES.audit]: {
      deeds: [
        { say: 'There are two places that fit, with different costs.' },
        {
          use: 'AskUserQuestion',
          input: {
            questions: [
              {
                question: 'Where should the audit log go?',
                header: 'Audit log',
                multiSelect: false,
                options: [
                  { label: 'PostgreSQL', description: 'One database less to run; needs partitions by month' },
                  { label: 'Object storage', description: 'Cheap for years; slow to search' },
                ],
              },
            ],
          },
          ask: true,
          output: 'PostgreSQL',
        },
        { say: 'PostgreSQL it is.' },
      ],
    },
    [MESSAGES.index]: {
      deeds: [
        { think: 'It rebuilds everything. Measure first.' },
        { use: 'Bash', input: { command: 'node bench/index.ts' }, output: '250000 documents: 11.2 s' },
        { tell: `${INDEX}${'Each step has a test of its own. '.repeat(4000)}`, everyMs: 40 },
      ],
    },
    [MESSAGES.review]: {
      deeds: [
        { say: 'Two reviewers will look at it side by side.' },
        {
          use: 'Task',
          input: {
            description: 'Look for unhandled errors',
            prompt: 'Look for unhandled errors',
            subagent_type: 'reviewer',
          },
          deeds: [
            {
              use: 'Grep',
              input: { pattern: 'catch', path: `${project}/src/payment` },
              output: '12 matches',
            },
            {
              use: 'Read',
              input: { file_path: `${project}/src/payment/charge.ts` },
              output: 'export async function charge() {}',
            },
            { hang: true },
          ],
        },
      ],
    },
  }
}
