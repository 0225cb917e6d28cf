import assert from 'node:assert/strict'
import { test } from 'node:test'
import { until } from '../support/wait.ts'
import { opened, overflow } from './opened.ts'
import { live, PHONE, quiet, withoutBrowser } from './support.ts'

const options = { skip: withoutBrowser }

test('a rule that is made here holds, at once and for everybody, until it is removed', options, async (t) => {
  const { client, daemon, page, go } = await opened(t)
  const { id: sessionId } = await client.call('session.create', {
    agent: 'demo',
    cwd: daemon.project,
    mode: 'ask',
  })
  const decisionOn = async (command: string): Promise<string> => {
    const { turnId } = await client.call('session.send', { sessionId, content: `[[shell ${command}]]` })
    return until(async () => {
      const { state } = await client.call('turn.get', { turnId })
      const [open] = (await client.call('approval.list', { sessionId, open: true })).approvals
      if (open) {
        await client.call('approval.decide', { approvalId: open.id, behavior: 'deny' })
        return 'asked'
      }
      if (state !== 'completed') return null
      const { decisions } = await client.call('approval.history', { sessionId })
      return decisions.length > 0 ? 'asked' : 'not asked'
    }, 'it is decided')
  }

  await go('/settings')
  await page.getByText('No directory has rules.').waitFor()
  await page.getByRole('button', { name: 'Add a rule' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByRole('button', { name: 'Add the rule' }).click()
  await dialog.getByText('Give the whole path of the directory').waitFor()
  await dialog.getByLabel('Directory').fill(daemon.project)
  await dialog.getByLabel('Rule', { exact: true }).fill('shell(echo one; echo *)')
  await dialog.getByText(/never fits/).waitFor()
  await dialog.getByLabel('Rule', { exact: true }).fill('shell(echo *)')
  await dialog.getByText(/never fits/).waitFor({ state: 'detached' })
  await quiet(page)
  await dialog.getByRole('button', { name: 'Add the rule' }).click()
  const rules = page.getByRole('group', { name: daemon.project })
  await rules.getByText('shell(echo *)').waitFor()
  await quiet(page)
  assert.equal(await decisionOn('echo hello'), 'not asked')

  await rules.getByRole('button', { name: 'Remove the rule shell(echo *)' }).click()
  await page.getByText('No directory has rules.').waitFor()
  assert.equal(await decisionOn('echo again'), 'asked')

  // What somebody else changes is seen here.
  await client.call('directory.configure', { path: daemon.project, rules: { deny: ['edit(*/.env)'] } })
  await page.getByText('edit(*/.env)').waitFor()
})

test('the looks are chosen for this browser, and stay', options, async (t) => {
  const { page, go } = await opened(t, { colorScheme: 'light' })
  await go('/settings')
  const background = (): Promise<string> =>
    page.evaluate(() => getComputedStyle(document.body).backgroundColor)
  const size = (): Promise<string> => page.evaluate(() => getComputedStyle(document.documentElement).fontSize)
  const light = await background()
  await page.getByRole('radio', { name: 'Dark' }).click()
  await until(async () => (await background()) !== light, 'it is dark')
  await page.getByRole('radio', { name: 'Large', exact: true }).click()
  await until(async () => (await size()) === '18px', 'the text is larger')
  await page.getByRole('radio', { name: 'Compact' }).click()
  await page.reload()
  await live(page)
  await page.getByRole('heading', { name: 'Appearance' }).waitFor()
  assert.notEqual(await background(), light)
  assert.equal(await size(), '18px')
  assert.equal(await page.evaluate(() => document.documentElement.dataset['density']), 'compact')
  // The keyboard chooses, too.
  await page.getByRole('radio', { name: 'Dark' }).focus()
  await page.keyboard.press('ArrowLeft')
  await until(async () => (await background()) === light, 'it is light again')
})

test('signing out leads to the sign-in page; nothing is wider than a phone', options, async (t) => {
  const { page, go } = await opened(t, { viewport: PHONE, expectedErrors: /signed out|401/ })
  await go('/settings')
  await page.getByRole('heading', { name: 'Keyboard' }).waitFor()
  assert.equal(await overflow(page), 0)
  await page.getByText('Corral does not send notifications').waitFor()
  await page.getByRole('button', { name: 'Sign out' }).last().click()
  await page.getByRole('dialog').getByRole('button', { name: 'Sign out' }).click()
  await page.getByRole('heading', { name: 'Sign in to Corral' }).waitFor()
})
