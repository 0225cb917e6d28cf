import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Page } from 'playwright-core'
import { homeWithAgent } from '../support/acp.ts'
import { until } from '../support/wait.ts'
import { ended, untilToast } from './asking.ts'
import { opened } from './opened.ts'
import { demoSession, openPage, saidOn, turn } from './session-support.ts'
import { answerable, heldMoments, originOf, quiet, withoutBrowser } from './support.ts'

const options = { skip: withoutBrowser }

/** Everything that a screen reader is told on its own, now. */
async function announced(page: Page): Promise<string> {
  const texts = await page.locator('[role="status"]').allTextContents()
  return texts.map((text) => text.trim()).join('\n')
}

function untilAnnounced(page: Page, words: string): Promise<unknown> {
  let heard = ''
  return until(
    async () => {
      heard = await announced(page)
      return heard.includes(words)
    },
    () => `“${words}” is announced; it is ${JSON.stringify(heard)}`,
  )
}

test('the plan is one line, opens into all of it, and goes when it is done', options, async (t) => {
  const { client, daemon, page } = await opened(t, { daemon: { home: homeWithAgent() } })
  const { id } = await client.call('session.create', { agent: 'mine', cwd: daemon.project, mode: 'auto' })
  const plan = (...statuses: string[]) => {
    const texts = ['Read the code', 'Write the test', 'Run it']
    const entries = statuses.map((status, at) => ({ content: texts[at], priority: 'low', status }))
    return turn(client, id, JSON.stringify({ update: { sessionUpdate: 'plan', entries } }))
  }
  await plan('completed', 'in_progress', 'pending')
  await openPage(page, daemon, id)
  const shown = page.getByRole('region', { name: 'Plan' })
  const line = shown.getByRole('button')
  await until(
    async () => (await line.textContent()) === 'Plan 1/3Write the test',
    'it says what is being done',
  )
  assert.equal(await shown.getByRole('listitem').count(), 0)
  await line.click()
  assert.deepEqual(await shown.getByRole('listitem').allTextContents(), [
    'Read the code',
    'Write the test',
    'Run it',
  ])
  assert.deepEqual(
    await shown.getByRole('img').evaluateAll((all) => all.map((one) => one.getAttribute('aria-label'))),
    ['done', 'being done', 'to do'],
  )
  await plan('completed', 'completed', 'in_progress')
  await until(async () => (await line.textContent()) === 'Plan 2/3', 'it has moved on')
  await plan('completed', 'completed', 'completed')
  await shown.waitFor({ state: 'detached' })
})

test('what the agent thinks is one line until somebody opens it', options, async (t) => {
  const { client, daemon, page } = await opened(t)
  const { id } = await demoSession(client, daemon)
  await turn(client, id, '[[think First this.\n\n- then **that**\n\nThe end of it]] [[say Done thinking]]')
  await openPage(page, daemon, id)
  const thought = page.locator('.entry-thought')
  const line = thought.getByRole('button')
  await until(async () => (await thought.textContent()) === 'ThoughtThe end of it', 'its last line is there')
  assert.equal(await line.getAttribute('aria-expanded'), 'false')
  await line.click()
  await thought.getByText('First this.').waitFor()
  assert.equal(await thought.locator('li strong').textContent(), 'that', 'it is Markdown')
  assert.equal(await line.getAttribute('aria-expanded'), 'true')
  await line.click()
  await thought.getByText('First this.').waitFor({ state: 'detached' })
})

test('the header: pause and go on, model and thinking', options, async (t) => {
  const { client, daemon, page } = await opened(t)
  const { id } = await demoSession(client, daemon)
  const session = () => client.call('session.get', { sessionId: id })
  await turn(client, id, 'hello')
  await openPage(page, daemon, id)
  await page.getByRole('button', { name: 'demo-script', exact: true }).click()
  assert.equal(
    await page.getByRole('menuitemradio', { name: "The agent's choice" }).getAttribute('aria-checked'),
    'true',
  )
  await page.getByRole('menuitemradio', { name: 'Demo', exact: true }).click()
  await until(async () => (await session()).model === 'demo', 'the model is chosen')
  await page.getByRole('button', { name: 'Thinking: usual' }).click()
  await page.getByRole('menuitemradio', { name: 'high', exact: true }).click()
  await page.getByRole('button', { name: 'Thinking: high' }).waitFor()
  await turn(client, id, '[[effort]]')
  await until(async () => (await saidOn(page)).includes('effort: high'), 'the agent was told')
  assert.equal((await session()).modelInUse, 'demo')
  await quiet(page)

  const { turnId } = await client.call('session.send', { sessionId: id, content: '[[drip 100000 20]]' })
  await page.locator('.entry-said', { hasText: 'w1 w2' }).waitFor()
  await page.getByRole('button', { name: 'Pause' }).click()
  await page.getByText('Paused in the middle of a turn').waitFor()
  assert.equal((await session()).status, 'paused')
  const before = (await saidOn(page)).at(-1)!
  await page.getByRole('button', { name: 'Resume' }).click()
  await page.getByRole('button', { name: 'Pause' }).waitFor()
  await until(async () => (await saidOn(page)).at(-1)!.length > before.length + 20, 'it goes on')
  assert.equal((await session()).status, 'running')
  await page.getByRole('button', { name: 'Stop' }).click()
  await until(async () => (await client.call('turn.get', { turnId })).state === 'interrupted')
})

test('who only hears the pages is told what ends their waiting', options, async (t) => {
  const { client, daemon, page } = await opened(t)
  const { id } = await demoSession(client, daemon, 'ask')
  await openPage(page, daemon, id)
  await client.call('session.send', { sessionId: id, content: '[[shell make]]' })
  await untilAnnounced(page, 'The agent waits for your decision.')
  await answerable(page.locator('.decision'))
  await page.getByRole('button', { name: 'Allow once' }).click()
  await untilAnnounced(page, 'The agent has finished.')
  await client.call('session.send', { sessionId: id, content: '[[fail 500]]' })
  await untilAnnounced(page, 'The turn has failed.')
  await client.call('session.send', { sessionId: id, content: '[[hang]]' })
  await page.getByRole('button', { name: 'Stop' }).click()
  await untilAnnounced(page, 'The turn was stopped.')

  await client.call('session.send', { sessionId: id, content: '[[shell make]]' })
  await heldMoments(page, 6000)
  await page.goto(originOf(daemon))
  await untilAnnounced(page, '1 need you, 0 working, 0 done since you looked.')
  await ended(client, daemon, 'Another')
  await untilAnnounced(page, '1 need you, 0 working, 1 done since you looked.')
  await page.goto(`${originOf(daemon)}/inbox`)
  await untilAnnounced(page, '1 open decisions.')
  const { approvals } = await client.call('approval.list', { sessionId: id, open: true })
  await client.call('approval.decide', { approvalId: approvals[0]!.id, behavior: 'deny', by: 'Ada' })
  await untilAnnounced(page, '0 open decisions.')
  await untilToast(page, /“make” was refused/)
  await untilAnnounced(page, '“make” was refused')
})
