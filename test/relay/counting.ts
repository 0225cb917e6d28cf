/** Counts without end and says how far it is; a test kills it in the middle. */
import { openUsageCount } from '../../src/relay/license/usage-count.ts'

const usage = openUsageCount({ path: process.argv[2]!, now: Date.now })
for (;;) {
  await Promise.all([usage.add(), usage.add(), usage.add()])
  process.stdout.write(`${usage.used()}\n`)
}
