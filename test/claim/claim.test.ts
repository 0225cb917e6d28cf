import assert from 'node:assert/strict'
import { test } from 'node:test'
import { claim, plansFrom, shrunk } from './claim.ts'

/*
 * The product's claim: a session is the same conversation through every protocol, live, read afterwards, in pages, after
 * a crash and after retention. COUNT sessions of chance, beginning with SEED.
 */

const COUNT = Number(process.env['COUNT'] ?? 8)
const SEED = Number(process.env['SEED'] ?? 1)
/** Sessions that one daemon has. */
const TOGETHER = 50
const TRIES = Number(process.env['TRIES'] ?? 40)

for (let from = 0; from < COUNT; from += TOGETHER) {
  const count = Math.min(TOGETHER, COUNT - from)
  test(`all views tell the same of ${count} sessions from seed ${SEED + from}`, async () => {
    const [first, ...others] = await claim(plansFrom(SEED + from, count))
    if (!first) return
    const smallest = await shrunk(first, TRIES)
    assert.fail(
      [
        `${first.view}, ${first.when}, tells another session than the log; seed ${first.plan.seed}`,
        `and so do: ${others.map(({ view, plan, when }) => `${view} ${when} (seed ${plan.seed})`).join(', ')}`,
        `the smallest plan that fails: ${JSON.stringify(smallest)}`,
        'the log tells:',
        ...first.expected,
        'the view tells:',
        ...first.told,
      ].join('\n'),
    )
  })
}
