import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createPace } from '../../src/workspace/pace.ts'
import { until } from '../support/wait.ts'

/** A pace whose runs end when they are told to. */
function held(timing: { quietMs: number; patienceMs: number }) {
  const ends: (() => void)[] = []
  let runs = 0
  const pace = createPace(
    () => {
      runs++
      return new Promise((resolve) => ends.push(resolve))
    },
    { restFactor: 0, ...timing },
  )
  return { pace, runs: () => runs, under: () => ends.length, end: () => ends.shift()?.() }
}

test('never two runs at a time, and one more for what came meanwhile', async () => {
  const { pace, runs, under, end } = held({ quietMs: 1, patienceMs: 5 })
  pace.nudge()
  await until(() => runs() === 1, 'the first run')
  const later = performance.now() + 50
  await until(() => {
    pace.nudge()
    return performance.now() > later
  }, 'many nudges')
  assert.deepEqual([runs(), under()], [1, 1])
  end()
  await until(() => runs() === 2, 'the second run')
  end()
  const closed = pace.close()
  pace.nudge()
  await closed
  assert.equal(runs(), 2)
})

test('under a storm it runs all the same, before it is quiet', async () => {
  const { pace, runs, end } = held({ quietMs: 60_000, patienceMs: 30 })
  await until(() => {
    pace.nudge()
    return runs() === 1
  }, 'a run in the middle of the storm')
  end()
  await pace.close()
})

test('closing waits for the run that is under way', async () => {
  const { pace, runs, end } = held({ quietMs: 1, patienceMs: 1 })
  pace.nudge()
  await until(() => runs() === 1, 'a run')
  let isClosed = false
  const closed = pace.close().then(() => (isClosed = true))
  await new Promise((resolve) => setImmediate(resolve))
  assert.equal(isClosed, false)
  end()
  await closed
})
