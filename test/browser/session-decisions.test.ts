import assert from 'node:assert/strict'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import type { Locator, Page } from 'playwright-core'
import type { SessionView } from '../../src/dialects/native/wire.ts'
import { until } from '../support/wait.ts'
import { base64, demoSession, openPage, saidOn, turn } from './session-support.ts'
import {
  answerable,
  browserFor,
  daemonFor,
  nativeFor,
  PHONE,
  quiet,
  signIn,
  withoutBrowser,
  type BrowserOptions,
} from './support.ts'

const options = { skip: withoutBrowser }

async function stageFor(t: TestContext, mode: SessionView['mode'] = 'ask', how: BrowserOptions = {}) {
  const daemon = await daemonFor(t)
  const client = await nativeFor(t, daemon)
  const browser = await browserFor(t, daemon, how)
  const page = await browser.page()
  await signIn(page, client)
  const { id } = await demoSession(client, daemon, mode)
  await openPage(page, daemon, id)
  const send = (content: string): Promise<unknown> => client.call('session.send', { sessionId: id, content })
  /** Asks to be asked, and waits until the card says what each answer comes to. */
  const ask = async (content: string): Promise<void> => {
    await send(content)
    await answerable(card(page))
  }
  return { daemon, client, browser, page, id, send, ask }
}

const card = (page: Page) => page.locator('.decision')

test('a command is shown with what each answer leads to, edited and allowed in place', options, async (t) => {
  const { client, page, id, ask } = await stageFor(t)
  await ask('[[shell git push --force]]')
  await page.getByText('Waits for your decision', { exact: true }).waitFor()
  assert.equal(await card(page).locator('.decision-command').textContent(), 'git push --force')
  await card(page).getByText('From now on, this passes in this session:').waitFor()
  await card(page).getByRole('button', { name: 'Edit…' }).click()
  await page.getByRole('textbox', { name: 'Run this instead' }).fill('git push')
  await card(page).getByRole('button', { name: 'Allow this' }).click()
  await card(page).waitFor({ state: 'detached' })
  await until(async () => (await saidOn(page)).includes('tool said: (pretend) ran: git push'), 'it ran')
  const { decisions } = await client.call('approval.history', { sessionId: id })
  assert.equal(decisions[0]!.decidedBy, 'dashboard')
  assert.deepEqual(decisions[0]!.decision, { behavior: 'allow', input: { command: 'git push' } })
})

test('allow for this session makes a rule, and the next one is not asked about', options, async (t) => {
  const { client, page, id, ask } = await stageFor(t)
  await ask('[[shell make test]]')
  await card(page).getByRole('button', { name: 'Allow for this session' }).click()
  await card(page).waitFor({ state: 'detached' })
  await until(async () => (await client.call('session.get', { sessionId: id })).rules.allow.length === 1)
  await turn(client, id, '[[shell make test]]')
  await until(async () => (await page.locator('.entry[data-kind="end"]').count()) === 2, 'both have ended')
  assert.equal(await card(page).count(), 0)
})

test('an edit is shown as a diff before it is allowed, and in the call afterwards', options, async (t) => {
  const { client, page, id, ask } = await stageFor(t)
  const shown = (root: Locator) =>
    Promise.all(
      ['.diff-minus', '.diff-plus'].map((line) => root.locator(`${line} .diff-text`).allTextContents()),
    )
  await ask('[[edit a.txt 80 8080]]')
  await card(page).locator('.diff-plus .diff-text').waitFor()
  assert.deepEqual(await shown(card(page)), [['removed: 80'], ['added: 8080']])
  await card(page).getByRole('button', { name: 'Allow once' }).click()
  await card(page).waitFor({ state: 'detached' })
  await page.locator('.entry[data-kind="end"]').waitFor()
  await quiet(page)
  const line = page.locator('.entry-call .entry-line')
  assert.equal(await line.getAttribute('aria-expanded'), 'false')
  await line.click()
  await page.locator('.entry-call .diff-plus .diff-text').waitFor()
  assert.deepEqual(await shown(page.locator('.entry-call')), [['removed: 80'], ['added: 8080']])
  const { decisions } = await client.call('approval.history', { sessionId: id })
  assert.deepEqual(
    decisions.map(({ tool, decision }) => [tool, decision]),
    [['Edit', { behavior: 'allow' }]],
  )
})

test('the text of an edit is changed before it is allowed', options, async (t) => {
  const { client, daemon, page, id, ask } = await stageFor(t)
  const field = page.getByRole('textbox', { name: 'Write this instead' })
  const allowed = async (text: string): Promise<unknown> => {
    await field.fill(text)
    await card(page).getByRole('button', { name: 'Allow this' }).click()
    await card(page).waitFor({ state: 'detached' })
    const { decisions } = await client.call('approval.history', { sessionId: id })
    return decisions[0]!.decision
  }
  await ask('[[edit a.txt 80 8080]]')
  await card(page).locator('.diff-plus .diff-text').waitFor()
  await card(page).getByRole('button', { name: 'Edit…' }).click()
  assert.equal(await field.inputValue(), '8080')
  assert.equal(await card(page).locator('.diff-minus .diff-text').textContent(), 'removed: 80')
  const path = join(daemon.project, 'a.txt')
  assert.deepEqual(await allowed('443'), { behavior: 'allow', input: { path, before: '80', after: '443' } })
  await ask('[[write a.txt one line]]')
  await card(page).getByRole('button', { name: 'Edit…' }).click()
  assert.equal(await field.inputValue(), 'one line')
  assert.deepEqual(await allowed('two\nlines'), {
    behavior: 'allow',
    input: { path, content: 'two\nlines' },
  })
  // What is neither a command nor a text is changed as it is.
  await ask(`[[call Lookup ${base64({ depth: 2 })}]]`)
  await card(page).getByRole('button', { name: 'Edit…' }).click()
  const raw = page.getByRole('textbox', { name: 'Use this input instead' })
  assert.deepEqual(JSON.parse(await raw.inputValue()), { depth: 2 })
  await raw.fill('{ "depth": ')
  await card(page).getByRole('button', { name: 'Allow this' }).click()
  await card(page).getByText('This is not JSON').waitFor()
  await raw.fill('{ "depth": 3 }')
  await card(page).getByRole('button', { name: 'Allow this' }).click()
  await card(page).waitFor({ state: 'detached' })
  const { decisions } = await client.call('approval.history', { sessionId: id })
  assert.deepEqual(decisions[0]!.decision, { behavior: 'allow', input: { depth: 3 } })
})

test('refused with words: the agent hears them', options, async (t) => {
  const { page, ask } = await stageFor(t)
  await ask('[[shell rm -rf build]]')
  await card(page).getByRole('button', { name: 'Refuse with words…' }).click()
  await page.getByRole('textbox', { name: 'What should it do instead?' }).fill('use make clean')
  await page.keyboard.press('Control+Enter')
  await card(page).waitFor({ state: 'detached' })
  await until(
    async () => (await saidOn(page)).some((text) => text.includes('use make clean')),
    'it was heard',
  )
  await page.getByText('refused by dashboard').waitFor()
})

test('a question is answered with an option or with words', options, async (t) => {
  const { page, send } = await stageFor(t)
  await send('[[ask Which colour?]]')
  await card(page).getByText('Which colour?').first().waitFor()
  await quiet(page)
  await card(page).getByRole('textbox').fill('blue, I think')
  await card(page).getByRole('button', { name: 'Answer', exact: true }).click()
  await until(async () => (await saidOn(page)).some((text) => text.includes('blue, I think')), 'it was heard')
  const questions = [{ question: 'Which one?', options: [{ label: 'The first' }, { label: 'The second' }] }]
  await send(`[[call Ask ${base64({ questions })}]]`)
  await card(page).getByRole('radio', { name: 'The second' }).waitFor()
  await quiet(page)
  await card(page).getByRole('radio', { name: 'The second' }).check()
  await card(page).getByRole('button', { name: 'Answer', exact: true }).click()
  await until(async () => (await saidOn(page)).some((text) => text.includes('The second')), 'it was heard')
})

test('what is answered elsewhere is gone at once, in the middle of typing', options, async (t) => {
  const { client, daemon, browser, page, id, send } = await stageFor(t)
  const other = await browser.page()
  await openPage(other, daemon, id)
  await send('[[shell ls]]')
  await answerable(card(page))
  await answerable(card(other))
  await card(page).getByRole('button', { name: 'Refuse with words…' }).click()
  const { approvals } = await client.call('approval.list', { sessionId: id })
  await client.call('approval.decide', { approvalId: approvals[0]!.id, behavior: 'allow' })
  await card(page).waitFor({ state: 'detached' })
  await card(other).waitFor({ state: 'detached' })
})

test(
  "a sub-agent's work is folded under its call, and what it asks is answered there",
  options,
  async (t) => {
    const { client, page, id, send } = await stageFor(t)
    const prompt = '[[shell grep -rn port]]'
    await send(`[[call Task ${base64({ description: 'Find the port', prompt })}]]`)
    const call = page.locator('.entry-call', { hasText: 'Find the port' })
    await answerable(call.locator('.decision'))
    await call.locator('.decision').getByRole('button', { name: 'Allow once' }).click()
    // It asks in its place, below the call that stays folded.
    const inside = page.locator('.entry[data-depth="1"]')
    await answerable(inside.locator('.decision'))
    assert.equal(await inside.locator('.decision-command').textContent(), 'grep -rn port')
    assert.equal(await call.locator('.entry-line').first().getAttribute('aria-expanded'), 'false')
    assert.equal(await inside.count(), 1)
    await inside.getByRole('button', { name: 'Allow once' }).click()
    await page.locator('.entry[data-kind="end"]').waitFor()
    const { decisions } = await client.call('approval.history', { sessionId: id })
    assert.deepEqual(
      decisions.map(({ tool, decision }) => [tool, decision?.behavior]),
      [
        ['Shell', 'allow'],
        ['Task', 'allow'],
      ],
    )
    assert.equal(await inside.count(), 0)
    await call.locator('.entry-inside').waitFor()
    await quiet(page)
    await call.locator('.entry-line').click()
    await inside.filter({ hasText: 'Ran' }).first().waitFor()
    // What it has used itself.
    const { agents } = await client.call('subagents.list', { sessionId: id })
    const { inputTokens, outputTokens } = agents[0]!.usage!
    assert.equal(
      await call.locator('.entry-inside .numbers').textContent(),
      `2 steps · ${inputTokens + outputTokens} tokens`,
    )
    await until(async () => (await inside.count()) === 2, 'both steps are shown')
  },
)

test('number keys answer the decision that is in sight, and go to one that is not', options, async (t) => {
  const { client, page, id, ask } = await stageFor(t)
  const open = async () =>
    (await client.call('approval.list', { sessionId: id, open: true })).approvals.length
  const blur = () => page.evaluate(() => (document.activeElement as HTMLElement | null)?.blur())
  await ask('[[shell make]]')
  await until(() => isOnScreen(page), 'the question is in sight')
  await page.getByRole('textbox', { name: 'Message' }).focus()
  await page.keyboard.press('1')
  assert.equal(await page.getByRole('textbox', { name: 'Message' }).inputValue(), '1')
  assert.equal(await open(), 1)
  await page.getByRole('textbox', { name: 'Message' }).fill('')
  await blur()
  await page.keyboard.press('1')
  await card(page).waitFor({ state: 'detached' })
  await page.locator('.entry[data-kind="end"]').waitFor()
  await turn(client, id, `[[say ${'A line.\n\n'.repeat(60)}]]`)
  await ask('[[shell make install]]')
  await until(() => isOnScreen(page), 'the question is in sight')
  await page.locator('.timeline-scroller').hover()
  await page.mouse.wheel(0, -1200)
  await until(async () => !(await isOnScreen(page)), 'the question is out of sight')
  await blur()
  await page.keyboard.press('4')
  await until(() => isOnScreen(page), 'the question is in sight')
  assert.equal(await open(), 1)
  assert.equal(await page.getByRole('textbox', { name: 'What should it do instead?' }).count(), 0)
  await page.keyboard.press('4')
  await page.getByRole('textbox', { name: 'What should it do instead?' }).fill('not today')
  await card(page).getByRole('button', { name: 'Refuse', exact: true }).click()
  await until(async () => (await saidOn(page)).some((text) => text.includes('not today')), 'it was heard')
})

/** All of the card, down to its answers, is between the edges of what scrolls. */
function isOnScreen(page: Page): Promise<boolean> {
  return card(page).evaluate((element) => {
    const edge = element.closest('.timeline-scroller')!.getBoundingClientRect()
    const { bottom } = element.querySelector('.decision-answers')!.getBoundingClientRect()
    return element.getBoundingClientRect().top >= edge.top && bottom <= edge.bottom
  })
}

test(
  'on a phone: the card and the composer are in sight, and fingers hit what they aim at',
  options,
  async (t) => {
    const { page, ask } = await stageFor(t, 'ask', { viewport: PHONE, hasTouch: true, isMobile: true })
    await ask('[[shell make]]')
    for (const button of await page.locator('.decision .button, .composer .button').all()) {
      const box = (await button.boundingBox())!
      assert.ok(box.height >= 43.5, `${await button.textContent()} is ${box.height} high`)
      assert.ok(
        box.x >= 0 && box.x + box.width <= PHONE.width,
        `${await button.textContent()} is on the screen`,
      )
    }
    const composer = (await page.locator('.composer').boundingBox())!
    assert.ok(composer.y + composer.height <= PHONE.height)
    await card(page).getByRole('button', { name: 'Allow once' }).tap()
    await card(page).waitFor({ state: 'detached' })
    // The keyboard takes the lower half.
    await page.setViewportSize({ width: PHONE.width, height: 420 })
    await page.getByRole('textbox', { name: 'Message' }).tap()
    await page.getByRole('textbox', { name: 'Message' }).fill('hello from a phone')
    await until(async () => {
      const raised = (await page.locator('.composer').boundingBox())!
      return raised.y >= 0 && raised.y + raised.height <= 420
    }, 'the composer is above the keyboard')
    await page.getByRole('button', { name: 'Send' }).tap()
    await until(async () => (await saidOn(page)).includes('echo: hello from a phone'))
  },
)
