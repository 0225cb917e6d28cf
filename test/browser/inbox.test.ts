import assert from 'node:assert/strict'
import { test } from 'node:test'
import { corral } from '../cli/support.ts'
import { until } from '../support/wait.ts'
import { asking, decided, untilToast } from './asking.ts'
import {
  answerable,
  browserFor,
  daemonFor,
  heldMoments,
  nativeFor,
  originOf,
  PHONE,
  quiet,
  signIn,
  visit,
  withoutBrowser,
  type BrowserOptions,
} from './support.ts'
import { swipe } from './touch.ts'

const options = { skip: withoutBrowser }

async function threeQuestions(t: Parameters<typeof daemonFor>[0], look: BrowserOptions = {}) {
  const daemon = await daemonFor(t)
  const client = await nativeFor(t, daemon)
  const asked = [
    await asking(client, daemon, { title: 'First', command: 'make one' }),
    await asking(client, daemon, { title: 'Second', command: 'make two' }),
    await asking(client, daemon, { title: 'Third', command: 'make three' }),
  ]
  const browser = await browserFor(t, daemon, look)
  const page = await browser.page()
  // As long as a finger's slip can be taken back.
  const moment = await heldMoments(page, 4000)
  await signIn(page, client)
  await visit(page, `${originOf(daemon)}/inbox`)
  const sessions = (): Promise<string[]> => page.locator('.inbox-item .inbox-session').allTextContents()
  const left = (...names: string[]): Promise<unknown> =>
    until(
      async () => (await sessions()).join() === names.join(),
      () => `the inbox has ${names.join() || 'nothing'}`,
    )
  await left('First', 'Second', 'Third')
  for (const item of await page.getByRole('article').all()) await answerable(item)
  return { daemon, client, browser, page, asked, left, moment }
}

test('what others answer goes at once, and it is said by whom', options, async (t) => {
  const { daemon, client, browser, page, asked, left } = await threeQuestions(t)
  const tab = await browser.page()
  await visit(tab, `${originOf(daemon)}/inbox`)
  await answerable(tab.getByRole('article').first())
  await tab.getByRole('article').first().getByRole('button', { name: 'Allow once' }).click()
  await left('Second', 'Third')
  await untilToast(page, /“make one” was allowed by another dashboard/)
  assert.equal((await decided(client, asked[0]!.approvalId)).behavior, 'allow')
  const denied = await corral(daemon.env, ['deny', asked[1]!.approvalId, 'not', 'now'])
  assert.equal(denied.code, 0, denied.stderr)
  await left('Third')
  await untilToast(page, /“make two” was refused by the command line/)
  await client.call('session.interrupt', { sessionId: asked[2]!.sessionId })
  await left()
  await page.getByText('No decision waits for you').waitFor()
})

test('number keys answer, and the next decision has the focus', options, async (t) => {
  const { client, page, asked, left } = await threeQuestions(t)
  const focused = (name: string): Promise<unknown> =>
    until(
      () =>
        page.evaluate(
          (title) =>
            document.activeElement?.closest('.inbox-item')?.querySelector('.inbox-session')?.textContent ===
            title,
          name,
        ),
      () => `${name} has the focus`,
    )
  await page.keyboard.press('j')
  await focused('First')
  await page.keyboard.press('j')
  await focused('Second')
  await page.keyboard.press('1')
  await left('First', 'Third')
  assert.deepEqual(await decided(client, asked[1]!.approvalId), { behavior: 'allow', by: 'dashboard' })
  await focused('Third')
  await page.keyboard.press('3')
  assert.deepEqual(await decided(client, asked[2]!.approvalId), {
    behavior: 'allow',
    forDirectory: true,
    by: 'dashboard',
  })
  await focused('First')
})

test('a number key that is held answers one decision', options, async (t) => {
  const { client, page, asked, left } = await threeQuestions(t)
  await page.keyboard.press('j')
  await page.keyboard.down('1')
  await left('Second', 'Third')
  await until(
    () => page.evaluate(() => document.activeElement?.classList.contains('inbox-item') ?? false),
    'the next one has the focus',
  )
  for (let times = 0; times < 3; times++) await page.keyboard.down('1')
  await page.keyboard.up('1')
  await page.keyboard.down('j')
  await page.keyboard.down('j')
  await page.keyboard.up('j')
  // What came before this answer would have been done before it.
  await page.getByRole('article').last().getByRole('button', { name: 'Allow once' }).click()
  await left('Second')
  assert.equal((await decided(client, asked[2]!.approvalId)).behavior, 'allow')
  assert.equal((await client.call('approval.get', { approvalId: asked[1]!.approvalId })).decision, null)
})

test('answers do not move when it is known what they would lead to', options, async (t) => {
  const { daemon, client, browser } = await threeQuestions(t)
  const page = await browser.page()
  let tell = (): void => {}
  const isWanted = new Promise<void>((resolve) => (tell = resolve))
  await page.routeWebSocket(/native/, (socket) => {
    const server = socket.connectToServer()
    const held = new Set<unknown>()
    socket.onMessage((message) => {
      const { id, method } = JSON.parse(String(message)) as { id?: unknown; method?: string }
      if (method === 'approval.context') held.add(id)
      server.send(message)
    })
    server.onMessage(async (message) => {
      const { id } = JSON.parse(String(message)) as { id?: unknown }
      if (held.has(id)) await isWanted
      socket.send(message)
    })
  })
  await signIn(page, client)
  await page.goto(`${originOf(daemon)}/inbox`)
  const answers = page.getByRole('article').first().locator('.decision-answers')
  const places = (): Promise<string> =>
    answers
      .getByRole('button')
      .evaluateAll((all) =>
        all.map((one) => `${one.textContent} ${Math.round(one.getBoundingClientRect().x)}`).join('\n'),
      )
  await answers.getByRole('button', { name: 'Refuse', exact: true }).waitFor()
  const before = await places()
  tell()
  await page.getByText('From now on, this passes in this session:').first().waitFor()
  assert.equal(await places(), before)
})

test(
  'on a phone: a finger allows once, which can be undone for a moment, or says not now',
  options,
  async (t) => {
    const look = { viewport: PHONE, hasTouch: true, isMobile: true }
    const { daemon, client, page, asked, left, moment } = await threeQuestions(t, look)
    const item = (title: string) => page.getByRole('article').filter({ hasText: title })
    const says = (title: string, words: string) => (): Promise<unknown> =>
      until(async () => {
        const seen = await item(title).evaluate((one) => getComputedStyle(one, '::before').content)
        return seen === `"${words}"`
      }, `${title} says ${words}`)
    const openNow = async () =>
      (await client.call('approval.list', { open: true })).approvals.map(({ id }) => id)
    await swipe(item('First'), 60)
    assert.equal(await item('First').getByRole('button', { name: 'Undo' }).count(), 0)
    await swipe(item('First'), 180, says('First', 'Allow once'))
    await item('First').getByRole('button', { name: 'Undo' }).tap()
    await item('First').getByRole('button', { name: 'Allow once' }).waitFor()
    assert.equal((await openNow()).length, 3, 'nothing was decided')
    await swipe(item('First'), 180)
    await item('First').getByText('Allowed once, in a moment').waitFor()
    await moment.pass()
    await left('Second', 'Third')
    assert.deepEqual(await decided(client, asked[0]!.approvalId), { behavior: 'allow', by: 'dashboard' })
    await swipe(item('Second'), -180, says('Second', 'Not now'))
    await left('Third')
    await untilToast(page, /^Not now: back/)
    assert.deepEqual((await openNow()).toSorted(), [asked[1]!.approvalId, asked[2]!.approvalId])
    // What is about to be allowed is allowed when somebody goes elsewhere.
    await swipe(item('Third'), 180)
    await item('Third').getByRole('button', { name: 'Undo' }).waitFor()
    await page.getByRole('link', { name: 'Now' }).tap()
    assert.deepEqual(await decided(client, asked[2]!.approvalId), { behavior: 'allow', by: 'dashboard' })
    // On the page of a session it is the card that moves.
    await client.call('approval.defer', { approvalId: asked[1]!.approvalId, until: null })
    await visit(page, `${originOf(daemon)}/s/${asked[1]!.sessionId}`)
    await answerable(page.locator('.decision'))
    await swipe(page.locator('.decision'), 180)
    await page.getByText('Allowed once, in a moment').waitFor()
    await moment.pass()
    assert.deepEqual(await decided(client, asked[1]!.approvalId), { behavior: 'allow', by: 'dashboard' })
  },
)

test('not now: it waits below, comes back on request and by itself', options, async (t) => {
  const { client, page, asked, left } = await threeQuestions(t)
  await page.keyboard.press('j')
  await page.keyboard.press('z')
  await page.getByRole('heading', { name: 'Not now' }).waitFor()
  await page.keyboard.press('2')
  await left('Second', 'Third')
  await quiet(page)
  await page.getByRole('article').first().getByRole('button', { name: 'Not now' }).click()
  await page.getByRole('menuitem', { name: 'In an hour' }).click()
  await left('Third')
  await page.getByRole('button', { name: 'Open (1)' }).waitFor()
  await quiet(page)
  await page.locator('.deferred > summary').click()
  await page
    .locator('.deferred-item', { hasText: 'First' })
    .getByRole('button', { name: 'Bring back' })
    .click()
  await left('First', 'Third')
  await client.call('approval.defer', { approvalId: asked[1]!.approvalId, until: Date.now() + 200 })
  await left('First', 'Second', 'Third')
})

test('several of one kind are answered together, once it was said what that means', options, async (t) => {
  const { client, page, asked, left } = await threeQuestions(t)
  await page.keyboard.press('j')
  await page.keyboard.press('x')
  await page.keyboard.press('j')
  await page.keyboard.press('x')
  await page.getByText('2 selected').waitFor()
  await page.getByRole('button', { name: 'Refuse…' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.locator('.bulk-list code').last().waitFor()
  assert.deepEqual(await dialog.locator('.bulk-list code').allTextContents(), ['make one', 'make two'])
  await dialog.getByRole('textbox').fill('neither')
  await dialog.getByRole('button', { name: 'Refuse all 2' }).click()
  await left('Third')
  for (const { approvalId } of asked.slice(0, 2)) {
    assert.deepEqual(await decided(client, approvalId), {
      behavior: 'deny',
      comment: 'neither',
      by: 'dashboard',
    })
  }
})

test('decisions of two kinds are not answered together', options, async (t) => {
  const { daemon, client, page, left } = await threeQuestions(t)
  const { id: sessionId } = await client.call('session.create', {
    agent: 'demo',
    cwd: daemon.project,
    mode: 'ask',
    title: 'Writes',
  })
  await client.call('session.send', { sessionId, content: '[[write a.txt text]]' })
  await left('First', 'Second', 'Third', 'Writes')
  await answerable(page.getByRole('article').last())
  await page.getByRole('article').first().getByRole('checkbox').check()
  await page.getByRole('article').last().getByRole('checkbox').check()
  await page.getByText('Only decisions of one kind can be answered together.').waitFor()
  assert.equal(await page.getByRole('button', { name: 'Allow once…' }).count(), 0)
})

test('the history tells who, what and which rule', options, async (t) => {
  const { client, page, asked, left } = await threeQuestions(t)
  await client.call('approval.decide', {
    approvalId: asked[0]!.approvalId,
    behavior: 'allow',
    forSession: true,
    by: 'cli',
  })
  await client.call('approval.decide', {
    approvalId: asked[1]!.approvalId,
    behavior: 'deny',
    comment: 'too slow',
    by: 'dashboard',
  })
  await left('Third')
  await page.keyboard.press('h')
  const lines = page.locator('.history-line')
  await until(async () => (await lines.count()) === 2, 'two decisions are told')
  const [newest, oldest] = await lines.allTextContents()
  assert.match(newest!, /refused.*make two.*Second.*by the dashboard.*too slow/)
  assert.match(
    oldest!,
    /allowed.*make one.*First.*by the command line.*Rule for the session.*Shell\(make one\)/,
  )
  await client.call('approval.decide', { approvalId: asked[2]!.approvalId, behavior: 'allow' })
  await until(async () => (await lines.count()) === 3, 'the next one comes by itself')
})
