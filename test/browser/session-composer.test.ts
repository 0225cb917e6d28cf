import assert from 'node:assert/strict'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import type { Page } from 'playwright-core'
import type { NativeClient } from '../../src/client/client.ts'
import type { TestDaemon } from '../support/daemon.ts'
import { homeWithAgent } from '../support/acp.ts'
import { until } from '../support/wait.ts'
import { newSession } from './opened.ts'
import { demoSession, ended, openPage, saidOn, turn } from './session-support.ts'
import {
  browserFor,
  daemonFor,
  nativeFor,
  live,
  originOf,
  quiet,
  signIn,
  visit,
  withoutBrowser,
  type TestBrowser,
} from './support.ts'

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

/** A picture, as somebody would paste or drop it. With `noise` it cannot be made small. */
function bring(page: Page, how: 'paste' | 'drop', type = 'image/png', noise = false): Promise<void> {
  const given = { how, mediaType: type, side: noise ? 160 : 40, noise }
  return composer(page).evaluate(async (element, { how, mediaType, side, noise }) => {
    const canvas = document.createElement('canvas')
    canvas.width = canvas.height = side
    const context = canvas.getContext('2d')!
    context.fillStyle = 'red'
    context.fillRect(0, 0, side, side)
    const image = context.getImageData(0, 0, side, side)
    if (noise) crypto.getRandomValues(new Uint8Array(image.data.buffer, 0, 65536))
    context.putImageData(image, 0, 0)
    const blob = await new Promise<Blob>((resolve) => canvas.toBlob((made) => resolve(made!), 'image/png'))
    const data = new DataTransfer()
    data.items.add(new File([blob], 'red.png', { type: mediaType }))
    const event =
      how === 'paste'
        ? new ClipboardEvent('paste', { clipboardData: data, bubbles: true })
        : new DragEvent('drop', { dataTransfer: data, bubbles: true, cancelable: true })
    element.dispatchEvent(event)
  }, given)
}

const paste = (page: Page, type: string) => bring(page, 'paste', type)

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

test('a picture is dropped; a large one is read again after a reload', options, async (t) => {
  const { client, page, id } = await stageFor(t)
  await bring(page, 'drop')
  await page.locator('.attachment').waitFor()
  await bring(page, 'drop', 'image/png', true)
  await until(async () => (await page.locator('.attachment').count()) === 2)
  await composer(page).fill('[[attachments]]')
  await composer(page).press('Enter')
  await until(async () => (await saidOn(page)).some((text) => text.startsWith('attachments: 2 image/png/')))
  const [sent] = (await client.call('turn.list', { sessionId: id })).turns
  const sizes = sent!.input.flatMap((part) => (part.type === 'image' ? part.data.length : []))
  assert.ok(sizes[0]! < 32 * 1024 && sizes[1]! > 32 * 1024, `one is small and one is large: ${sizes.join()}`)
  await page.reload()
  const shown = (): Promise<number[]> =>
    page
      .locator('.picture img')
      .evaluateAll((all) => all.map((one) => (one as HTMLImageElement).naturalWidth))
  await until(async () => (await shown()).join() === '40,160', 'both are there again')
})

test('pictures that are too large for one message are left out, and the others go', options, async (t) => {
  const { page } = await stageFor(t)
  await composer(page).evaluate((element) => {
    const data = new DataTransfer()
    for (const name of ['a.gif', 'b.gif', 'c.gif'])
      data.items.add(new File([new Uint8Array(4_000_000)], name, { type: 'image/gif' }))
    element.dispatchEvent(new ClipboardEvent('paste', { clipboardData: data, bubbles: true }))
  })
  await page.getByText('c.gif was left out').waitFor()
  assert.equal(await page.locator('.attachment').count(), 2)
  await composer(page).fill('[[attachments]]')
  await composer(page).press('Enter')
  const said = 'attachments: 2 image/gif/4000000 image/gif/4000000'
  await until(async () => (await saidOn(page)).includes(said), 'both were sent')
})

test('the first message of a session has the same limit', options, async (t) => {
  const { client, page, daemon } = await stageFor(t)
  await visit(page, originOf(daemon))
  await page.getByRole('button', { name: 'New session' }).first().click()
  await newSession(page)
  const message = page.getByLabel('First message')
  await message.evaluate((element) => {
    const data = new DataTransfer()
    for (const name of ['a.gif', 'b.gif', 'c.gif', 'd.gif'])
      data.items.add(new File([new Uint8Array(4_000_000)], name, { type: 'image/gif' }))
    element.dispatchEvent(new ClipboardEvent('paste', { clipboardData: data, bubbles: true }))
  })
  await page.getByText('c.gif was left out').waitFor()
  await message.fill('[[attachments]]')
  await page.getByRole('button', { name: 'Start', exact: true }).click()
  const said = 'attachments: 2 image/gif/4000000 image/gif/4000000'
  await until(async () => (await saidOn(page)).includes(said), 'both were sent')
  assert.equal((await client.call('session.list')).sessions.length, 2)
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

test('/ completes the commands that the agent has told of, whichever agent it is', options, async (t) => {
  const daemon = await daemonFor(t, { home: homeWithAgent() })
  const client = await nativeFor(t, daemon)
  const page = await (await browserFor(t, daemon)).page()
  await signIn(page, client)
  const { id } = await client.call('session.create', { agent: 'mine', cwd: daemon.project, mode: 'auto' })
  const availableCommands = [
    { name: 'review', description: 'Looks at the changes' },
    { name: 'mode', description: 'Is one of ours' },
  ]
  const update = { sessionUpdate: 'available_commands_update', availableCommands }
  await turn(client, id, JSON.stringify({ update }))
  await openPage(page, daemon, id)
  await composer(page).pressSequentially('/re')
  const option = page.getByRole('option')
  await option.first().waitFor()
  assert.deepEqual(await option.allTextContents(), ['/reviewLooks at the changes'])
  await composer(page).press('Enter')
  assert.equal(await composer(page).inputValue(), '/review ')
  await composer(page).fill('/mo')
  await option.first().waitFor()
  assert.deepEqual(await option.allTextContents(), ['/modewhat it may do without asking'])
})

test('what is typed is there after a reload, and on the other screen', options, async (t) => {
  const { client, daemon, browser, page, id } = await stageFor(t)
  await composer(page).pressSequentially('half a thought')
  await until(
    async () => (await client.call('draft.get', { sessionId: id })).text === 'half a thought',
    'it is kept',
  )
  await page.reload()
  await live(page)
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

test('what was sent does not come back when the daemon says that it is kept', options, async (t) => {
  const { client, daemon, browser, id } = await stageFor(t)
  const page = await browser.page()
  const held: (() => void)[] = []
  let isKept = false
  let holds = true
  await page.routeWebSocket(/native/, (socket) => {
    const server = socket.connectToServer()
    socket.onMessage((message) => {
      isKept ||= String(message).includes('"draft.set"')
      server.send(message)
    })
    server.onMessage((message) => {
      if (isKept && holds) held.push(() => socket.send(message))
      else socket.send(message)
    })
  })
  await openPage(page, daemon, id)
  await composer(page).fill('sent early')
  await until(() => isKept, 'it is on its way')
  await composer(page).press('Enter')
  holds = false
  for (const pass of held) pass()
  await until(async () => (await saidOn(page)).includes('echo: sent early'), 'it is sent')
  await until(async () => (await client.call('draft.get', { sessionId: id })).text === '', 'nothing is left')
  assert.equal(await composer(page).inputValue(), '')
})

test('what is too long to be kept as a draft is said, and can be sent', options, async (t) => {
  const { client, page, id } = await stageFor(t)
  await composer(page).fill('long '.repeat(30_000))
  await page.getByText('too long to be kept as a draft').waitFor()
  assert.equal((await client.call('draft.get', { sessionId: id })).text, '')
  await composer(page).press('Enter')
  await until(async () => (await saidOn(page)).some((text) => text.startsWith('echo: long')))
})

test('a message that is refused stands before what was typed meanwhile', options, async (t) => {
  const { page } = await stageFor(t)
  const wrong = `/model ${'x'.repeat(201)}`
  await composer(page).evaluate((element, text) => {
    const area = element as HTMLTextAreaElement
    const type = (value: string): void => {
      area.value = value
      area.dispatchEvent(new InputEvent('input', { bubbles: true }))
    }
    type(text)
    area.dispatchEvent(new KeyboardEvent('keydown', { key: 'Enter', bubbles: true, cancelable: true }))
    type('second')
  }, wrong)
  await page.getByText('That could not be done').waitFor()
  await until(async () => (await composer(page).inputValue()) === `${wrong}\n\nsecond`, 'both are there')
})

test('Escape that is held closes what is open, and stops nothing', options, async (t) => {
  const { client, page, id } = await stageFor(t)
  await client.call('session.send', { sessionId: id, content: '[[hang]]' })
  await page.getByRole('button', { name: 'Stop' }).waitFor()
  await page.keyboard.press('Control+k')
  await page.getByRole('dialog').waitFor()
  for (let times = 0; times < 3; times++) await page.keyboard.down('Escape')
  await page.keyboard.up('Escape')
  await page.getByRole('dialog').waitFor({ state: 'detached' })
  await page.getByRole('button', { name: 'Stop' }).waitFor()
  assert.equal((await client.call('session.get', { sessionId: id })).status, 'running')
  await page.keyboard.press('Escape')
  await until(
    async () => (await client.call('session.get', { sessionId: id })).lastOutcome === 'interrupted',
    'it is stopped',
  )
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
  await quiet(page)
  await page.locator('.queue-item').nth(2).getByRole('button', { name: 'Earlier' }).click()
  await until(async () => (await queue()).join() === 'first,third,second', 'it is moved')
  await page.locator('.queue-item').first().focus()
  await page.keyboard.press('Alt+ArrowDown')
  await until(async () => (await queue()).join() === 'third,first,second', 'it is moved by a key')
  await page.locator('.queue-item').nth(2).dragTo(page.locator('.queue-item').first())
  await until(async () => (await queue()).join() === 'second,third,first', 'it is dragged to the top')
  await page.locator('.queue-item').first().dragTo(page.locator('.queue-item').nth(2))
  await until(async () => (await queue()).join() === 'third,first,second', 'it is dragged to the end')
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

test('the header: rename, mode, fork after an answer', options, async (t) => {
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
  await quiet(page)
  await page.getByRole('button', { name: 'What to do with this message' }).focus()
  await page.keyboard.press('Enter')
  await page.getByRole('menuitem', { name: 'Fork after this answer' }).click()
  await until(() => !page.url().includes(id), 'the fork is open')
  await until(
    async () => (await saidOn(page)).includes('echo: say something'),
    'what was said before is there',
  )
})

test('what the agent has said is copied, and a fork goes on after it', options, async (t) => {
  const { client, daemon, browser, page, id } = await stageFor(t)
  await browser.context.grantPermissions(['clipboard-read', 'clipboard-write'])
  for (const content of ['[[say **one**]]', '[[say two]]']) await turn(client, id, content)
  await until(async () => (await page.locator('.entry[data-kind="end"]').count()) === 2, 'both are there')
  await quiet(page)
  const menu = page.locator('.entry-said', { hasText: 'one' }).getByRole('button')
  await page.getByText('one', { exact: true }).hover()
  await menu.click()
  await page.getByRole('menuitem', { name: 'Copy' }).click()
  await until(
    async () => (await page.evaluate(() => navigator.clipboard.readText())) === '**one**',
    'it is on the clipboard',
  )
  await menu.click()
  await page.getByRole('menuitem', { name: 'Fork after this answer' }).click()
  await until(() => !page.url().includes(id), 'the fork is open')
  await until(async () => (await saidOn(page)).length > 0, 'what was said before is there')
  assert.deepEqual(await saidOn(page), ['one'])
  const fork = page.url().split('/').at(-1)!
  assert.deepEqual((await client.call('session.get', { sessionId: fork })).parentId, id)
  // Not while the turn runs that it is part of.
  await openPage(page, daemon, id)
  await client.call('session.send', { sessionId: id, content: '[[drip 100000 20]]' })
  await page.locator('.entry-said', { hasText: 'w1 w2' }).getByRole('button').focus()
  await page.keyboard.press('Enter')
  await page.getByRole('menuitem', { name: 'Copy' }).waitFor()
  assert.equal(await page.getByRole('menuitem', { name: 'Fork after this answer' }).count(), 0)
})
