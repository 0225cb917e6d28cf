import assert from 'node:assert/strict'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import type { Page } from 'playwright-core'
import type { NativeClient } from '../../src/dialects/native/client.ts'
import type { TestDaemon } from '../support/daemon.ts'
import { until } from '../support/wait.ts'
import { demoSession, ended, openPage, saidOn } from './session-support.ts'
import { browserFor, daemonFor, nativeFor, signIn, withoutBrowser, type TestBrowser } from './support.ts'

const options = { skip: withoutBrowser }

interface Stage {
  daemon: TestDaemon
  client: NativeClient
  browser: TestBrowser
  page: Page
  id: string
}

async function stageFor(t: TestContext): Promise<Stage> {
  const daemon = await daemonFor(t)
  const client = await nativeFor(t, daemon)
  const browser = await browserFor(t, daemon)
  const page = await browser.page()
  await signIn(page, client)
  const { id } = await demoSession(client, daemon)
  await openPage(page, daemon, id)
  return { daemon, client, browser, page, id }
}

const composer = (page: Page) => page.getByRole('textbox', { name: 'Message' })

/** A red picture, as somebody would paste it. */
function paste(page: Page, type: string): Promise<void> {
  return composer(page).evaluate(async (element, mediaType) => {
    const canvas = document.createElement('canvas')
    canvas.width = canvas.height = 40
    const context = canvas.getContext('2d')!
    context.fillStyle = 'red'
    context.fillRect(0, 0, 40, 40)
    const blob = await new Promise<Blob>((resolve) => canvas.toBlob((made) => resolve(made!), 'image/png'))
    const data = new DataTransfer()
    data.items.add(new File([blob], 'red.png', { type: mediaType }))
    element.dispatchEvent(new ClipboardEvent('paste', { clipboardData: data, bubbles: true }))
  }, type)
}

test('pictures are pasted, shown, taken out and sent', options, async (t) => {
  const { client, page, id } = await stageFor(t)
  await paste(page, 'image/png')
  await page.locator('.attachment').waitFor()
  await paste(page, 'image/png')
  await until(async () => (await page.locator('.attachment').count()) === 2)
  await page.getByRole('button', { name: 'Leave red.png out' }).first().click()
  await until(async () => (await page.locator('.attachment').count()) === 1)
  await paste(page, 'image/svg+xml')
  await page.getByText('is no picture that an agent can see').waitFor()
  await composer(page).fill('[[attachments]]')
  await composer(page).press('Enter')
  await until(async () => (await saidOn(page)).some((text) => /^attachments: 1 image\/png\/\d+$/.test(text)))
  await page.locator('.picture img').waitFor()
  assert.equal(await page.locator('.attachment').count(), 0)
  const { turns } = await client.call('turn.list', { sessionId: id })
  assert.deepEqual(
    turns[0]!.input.map(({ type }) => type),
    ['text', 'image'],
  )
})

test('@ completes files, / commands; commands of our own are done and not sent', options, async (t) => {
  const { client, daemon, page, id } = await stageFor(t)
  mkdirSync(join(daemon.project, 'src'))
  writeFileSync(join(daemon.project, 'src', 'harbour.ts'), '')
  await composer(page).pressSequentially('look at @harb')
  await page.getByRole('option', { name: 'src/harbour.ts' }).waitFor()
  await composer(page).press('Enter')
  assert.equal(await composer(page).inputValue(), 'look at @src/harbour.ts ')
  await composer(page).fill('')
  await composer(page).pressSequentially('/mo')
  await page.getByRole('option', { name: '/model' }).waitFor()
  await composer(page).press('Escape')
  await page.getByRole('option').first().waitFor({ state: 'detached' })
  await composer(page).pressSequentially('de plan')
  await composer(page).press('Enter')
  await until(
    async () => (await client.call('session.get', { sessionId: id })).mode === 'plan',
    'the mode is set',
  )
  await page.getByRole('button', { name: 'Plan', exact: true }).waitFor()
  assert.equal((await client.call('turn.list', { sessionId: id })).turns.length, 0)
})

test('what is typed is there after a reload, and on the other screen', options, async (t) => {
  const { client, daemon, browser, page, id } = await stageFor(t)
  await composer(page).pressSequentially('half a thought')
  await until(
    async () => (await client.call('draft.get', { sessionId: id })).text === 'half a thought',
    'it is kept',
  )
  await page.reload()
  await until(async () => (await composer(page).inputValue()) === 'half a thought', 'it is there again')
  const other = await browser.page()
  await openPage(other, daemon, id)
  await until(
    async () => (await composer(other).inputValue()) === 'half a thought',
    'it is on the other screen',
  )
  await composer(other).fill('another thought')
  await until(
    async () => (await composer(page).inputValue()) === 'another thought',
    'what the other one types appears',
  )
  await composer(page).press('Enter')
  await until(async () => (await composer(other).inputValue()) === '', 'it is sent, here and there')
  await until(async () => (await saidOn(other)).includes('echo: another thought'))
  assert.equal((await client.call('draft.get', { sessionId: id })).text, '')
})

test('messages that wait are edited, moved, steered and taken out', options, async (t) => {
  const { client, page, id } = await stageFor(t)
  const running = await client.call('session.send', { sessionId: id, content: '[[hang]]' })
  await page.getByRole('button', { name: 'Stop' }).waitFor()
  for (const text of ['first', 'second', 'third']) {
    await composer(page).fill(text)
    await composer(page).press('Enter')
    await page.locator('.queue-text', { hasText: text }).waitFor()
  }
  const queue = (): Promise<string[]> => page.locator('.queue-item .queue-text').allTextContents()
  assert.deepEqual(await queue(), ['first', 'second', 'third'])
  await page.locator('.queue-item').nth(2).getByRole('button', { name: 'Earlier' }).click()
  await until(async () => (await queue()).join() === 'first,third,second', 'it is moved')
  await page.locator('.queue-item').first().focus()
  await page.keyboard.press('Alt+ArrowDown')
  await until(async () => (await queue()).join() === 'third,first,second', 'it is moved by a key')
  await page.locator('.queue-item').first().getByRole('button', { name: 'Edit' }).click()
  await page.getByRole('textbox', { name: 'Edit the message that waits' }).fill('third, in other words')
  await page.keyboard.press('Enter')
  await until(async () => (await queue())[0] === 'third, in other words', 'it says something else')
  await page.locator('.queue-item').nth(1).getByRole('button', { name: 'Take it out' }).click()
  await until(async () => (await queue()).join() === 'third, in other words,second', 'one is gone')
  await page.locator('.queue-item').nth(1).getByRole('button', { name: 'Steer now' }).click()
  await until(async () => (await queue()).join() === 'third, in other words', 'one is on its way')
  await composer(page).press('Escape')
  await ended(client, running.turnId)
  await until(async () => (await saidOn(page)).includes('echo: third, in other words'), 'the rest is done')
  assert.equal((await saidOn(page)).filter((text) => text.includes('first')).length, 0)
})

test('the header: rename, mode, pause, fork after an answer', options, async (t) => {
  const { client, page, id } = await stageFor(t)
  await page.getByRole('button', { name: 'Rename' }).focus()
  await page.keyboard.press('Enter')
  await page.getByRole('textbox', { name: 'Title of the session' }).fill('Another name')
  await page.keyboard.press('Enter')
  await page.getByRole('heading', { name: 'Another name' }).waitFor()
  await page.getByRole('button', { name: 'Auto', exact: true }).click()
  await page.getByRole('menuitemradio', { name: /^Ask:/ }).click()
  await until(async () => (await client.call('session.get', { sessionId: id })).mode === 'ask')
  await composer(page).fill('say something')
  await composer(page).press('Enter')
  await until(async () => (await saidOn(page)).includes('echo: say something'))
  await page.locator('.entry[data-kind="end"]').waitFor()
  await page.getByRole('button', { name: 'What to do with this message' }).focus()
  await page.keyboard.press('Enter')
  await page.getByRole('menuitem', { name: 'Fork after this answer' }).click()
  await until(() => !page.url().includes(id), 'the fork is open')
  await until(
    async () => (await saidOn(page)).includes('echo: say something'),
    'what was said before is there',
  )
})
