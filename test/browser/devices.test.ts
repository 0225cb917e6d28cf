import assert from 'node:assert/strict'
import { test } from 'node:test'
import { until } from '../support/wait.ts'
import { opened } from './opened.ts'
import { browserFor, originOf, PHONE, quiet, visit, withoutBrowser } from './support.ts'

const options = { skip: withoutBrowser }

test('a phone comes in with the PIN of the QR code, gets a name, and is put out', options, async (t) => {
  const { daemon, client, page, go } = await opened(t)
  await go('/devices')
  await page.getByText('No device has been let in').waitFor()
  await page.getByRole('button', { name: 'Let a device in' }).first().click()
  const dialog = page.getByRole('dialog')
  const pin = ((await dialog.locator('.pair-pin').textContent()) ?? '').replace(/\s/g, '')
  assert.match(pin, /^\d{6}$/)
  const address = (await dialog.locator('.pair-address code').textContent()) ?? ''
  assert.equal(address, `${originOf(daemon)}/signin#pin=${pin}`)
  const qr = dialog.getByRole('img', { name: 'QR code with the address and the PIN' })
  await until(() => qr.evaluate((image) => (image as HTMLImageElement).naturalWidth > 0), 'it is drawn')

  const phone = await (
    await browserFor(t, daemon, { viewport: PHONE, expectedErrors: /401|WebSocket/ })
  ).page()
  await visit(phone, address)
  await page.getByRole('dialog', { name: 'A device has come in' }).waitFor()
  await page.getByRole('button', { name: 'Done' }).click()
  const [device] = (await client.call('device.list')).devices
  assert.deepEqual([device!.platform, device!.scopes], ['web', ['use']])

  await quiet(page)
  await page.getByRole('button', { name: 'Rename' }).click()
  await page.getByRole('textbox', { name: 'Name' }).fill('Pocket')
  await page.getByRole('dialog').getByRole('button', { name: 'Rename' }).click()
  await page.getByText('Pocket', { exact: true }).waitFor()
  await quiet(page)

  // The phone may use sessions, and nothing more.
  await visit(phone, `${originOf(daemon)}/devices`)
  await phone.getByText('this one').waitFor()
  assert.equal(
    await phone.getByRole('button', { name: 'Let a device in' }).first().getAttribute('aria-disabled'),
    'true',
  )

  await page.getByRole('button', { name: 'Revoke' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Revoke' }).click()
  await page.getByText('No device has been let in').waitFor()
  await phone.getByRole('heading', { name: 'Sign in to Corral' }).waitFor()
  assert.deepEqual((await client.call('device.list')).devices, [])
})

test('a PIN that is too old says so, and another one can be had', options, async (t) => {
  const { page, go } = await opened(t, { daemon: { env: { CORRAL_PAIRING_PIN_TTL_MS: '1000' } } })
  await go('/devices')
  await page.getByRole('button', { name: 'Let a device in' }).first().click()
  await page.getByText('This PIN is too old.').waitFor()
  await page.getByRole('button', { name: 'Make a new one' }).click()
  await page.locator('.pair-pin').waitFor()
})

test('a device that may manage is let in only when that was wanted', options, async (t) => {
  const { client, page, go } = await opened(t)
  await go('/devices')
  await page.getByRole('button', { name: 'Let a device in' }).first().click()
  const shown = async (): Promise<string> => (await page.locator('.pair-pin').textContent()) ?? ''
  const first = await shown()
  await quiet(page)
  await page.getByLabel(/It may manage/).check()
  await until(async () => (await shown()) !== first, 'there is another PIN')
  const pin = (await shown()).replace(/\s/g, '')
  const { device } = await client.call('device.pair', { pin, name: 'Desk', platform: 'linux' })
  assert.deepEqual(device.scopes, ['use', 'manage'])
  await page.getByRole('dialog').getByText('Desk').waitFor()
})
