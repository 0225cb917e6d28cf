import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { until } from '../support/wait.ts'
import { asking, decided, untilToast } from './asking.ts'
import { opened } from './opened.ts'
import { base64 } from './session-support.ts'
import { answerable, browserFor, originOf, PHONE, visit, withoutBrowser } from './support.ts'

const options = { skip: withoutBrowser }

test('who asks, why, and what an edit would change', options, async (t) => {
  const { client, daemon, page, go } = await opened(t)
  const make = (title: string) =>
    client.call('session.create', { agent: 'demo', cwd: daemon.project, mode: 'ask', title })
  writeFileSync(join(daemon.project, 'a.txt'), 'port 80\n')
  const edits = await make('Edits')
  const why = '[[think The port is taken by another server.]]'
  await client.call('session.send', { sessionId: edits.id, content: `${why} [[edit a.txt 80 8080]]` })
  await go('/inbox')
  const edit = page.getByRole('article').filter({ has: page.getByRole('link', { name: 'Edits' }) })
  const said = edit.getByLabel('What the agent said before it asked')
  await said.waitFor()
  assert.equal(await said.innerText(), 'The port is taken by another server.')
  const diff = edit.getByRole('region', { name: 'a.txt' })
  await diff.waitFor()
  assert.deepEqual(await diff.locator('tr.diff-minus .diff-text').allTextContents(), ['removed: 80'])
  assert.deepEqual(await diff.locator('tr.diff-plus .diff-text').allTextContents(), ['added: 8080'])
  assert.equal(await edit.locator('.inbox-helper').count(), 0)

  const asks = await make('Delegates')
  const input = base64({ description: 'Find the port', prompt: '[[shell grep -rn port]]' })
  await client.call('session.send', { sessionId: asks.id, content: `[[call Task ${input}]]` })
  const delegated = page.getByRole('article').filter({ has: page.getByRole('link', { name: 'Delegates' }) })
  await answerable(delegated)
  await delegated.getByRole('button', { name: 'Allow once' }).click()
  await delegated.getByText('grep -rn port').first().waitFor()
  const helper = delegated.locator('.inbox-helper')
  await helper.waitFor()
  assert.equal((await helper.innerText()).trim(), 'Find the port')
})

test('the history names the phone that has answered', options, async (t) => {
  const { client, daemon, page, go } = await opened(t)
  const { approvalId } = await asking(client, daemon, { title: 'First', command: 'make one' })
  const { pin } = await client.call('device.pin', {})
  const screen = { viewport: PHONE, hasTouch: true, isMobile: true }
  const phone = await (await browserFor(t, daemon, screen)).page()
  await visit(phone, `${originOf(daemon)}/signin#pin=${pin}`)
  const device = await until(async () => (await client.call('device.list')).devices[0], 'the phone is in')
  await client.call('device.rename', { deviceId: device.id, name: 'Pocket' })
  await go('/inbox')
  await page.getByRole('article').waitFor()
  await visit(phone, `${originOf(daemon)}/inbox`)
  await answerable(phone.getByRole('article'))
  await phone.getByRole('article').getByRole('button', { name: 'Allow once' }).tap()
  assert.equal((await decided(client, approvalId)).behavior, 'allow')
  await untilToast(page, /“make one” was allowed by Pocket/)
  await page.keyboard.press('h')
  const line = page.locator('.history-line')
  await until(
    async () => /allowed.*make one.*First.*by Pocket/.test((await line.textContent()) ?? ''),
    'by whom',
  )
})
