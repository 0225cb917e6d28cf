import assert from 'node:assert/strict'
import { test } from 'node:test'
import { until } from '../support/wait.ts'
import { asking, ended, untilIn } from './asking.ts'
import { browserFor, daemonFor, nativeFor, signIn, withoutBrowser } from './support.ts'

const options = { skip: withoutBrowser }

test('the palette finds sessions, pages, actions and what was said', options, async (t) => {
  const daemon = await daemonFor(t)
  const client = await nativeFor(t, daemon)
  const page = await (await browserFor(t, daemon)).page()
  await ended(client, daemon, 'Mend the login', 'about the zeppelin')
  await ended(client, daemon, 'Paint the fence')
  await signIn(page, client)
  await untilIn(page, 'Done since you looked', ['Paint the fence', 'Mend the login'])
  const palette = page.getByRole('dialog', { name: 'Find or do' })
  const first = (): Promise<string | null> =>
    palette.locator('[aria-selected="true"] .palette-title').textContent()
  const find = async (text: string, found: string): Promise<void> => {
    await page.keyboard.press('Control+k')
    await palette.getByRole('combobox').fill(text)
    await until(
      async () => (await first()) === found,
      () => `${text} finds ${found}`,
    )
  }
  await find('login', 'Mend the login')
  await page.keyboard.press('Enter')
  await page.waitForURL('**/s/*')
  await find('done', 'Mark as done')
  await page.keyboard.press('Enter')
  await until(
    async () => (await client.call('session.list', {})).sessions.some(({ marks }) => marks.settled),
    'it is done',
  )
  await find('inb', 'Inbox')
  await page.keyboard.press('Enter')
  await page.waitForURL('**/inbox')
  await page.keyboard.press('Control+k')
  await palette.getByRole('combobox').fill('zeppelin')
  await palette
    .getByRole('option', { name: /about the zeppelin/ })
    .first()
    .click()
  await page.waitForURL('**/s/*?at=*')
})

test('nothing fires while somebody types, and the keys say what they do', options, async (t) => {
  const daemon = await daemonFor(t)
  const client = await nativeFor(t, daemon)
  const page = await (await browserFor(t, daemon)).page()
  const { approvalId } = await asking(client, daemon, { title: 'Asks', command: 'ls' })
  await signIn(page, client)
  await untilIn(page, 'Needs you', ['Asks'])
  await page.keyboard.press('j')
  await page.keyboard.press('Space')
  await page.locator('.peek [data-answer="1"]:not([aria-disabled="true"])').waitFor()
  await page.keyboard.press('/')
  await page.keyboard.type('1 as n?')
  assert.equal(await page.getByLabel('Filter the sessions').inputValue(), '1 as n?')
  assert.equal(await page.getByRole('dialog').count(), 0)
  assert.equal((await client.call('approval.get', { approvalId })).decision, null)
  await page.getByText('No session fits').waitFor()
  await page.keyboard.press('Escape')
  await untilIn(page, 'Needs you', ['Asks'])
  await page.keyboard.press('?')
  await page.getByRole('dialog').getByText('Mark as done').waitFor()
  await page.keyboard.press('1')
  await page.keyboard.press('Escape')
  await until(async () => (await page.getByRole('dialog').count()) === 0, 'the help is closed')
  assert.equal((await client.call('approval.get', { approvalId })).decision, null)
})
