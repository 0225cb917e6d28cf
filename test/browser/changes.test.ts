import assert from 'node:assert/strict'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import type { Page } from 'playwright-core'
import { until } from '../support/wait.ts'
import { inRepository, opened, overflow, turnThat } from './opened.ts'
import { PHONE, quiet, withoutBrowser } from './support.ts'

const options = { skip: withoutBrowser }
const FILE = 'src/steps.ts'
const before = Array.from({ length: 30 }, (_, at) => `const step${at + 1} = ${at}`).join('\n')
const after = before
  .replace('const step5 = 4', 'const step5 = 40')
  .replace('const step6 = 5', 'const step6 = 50')

/** The gutter beside a text. */
function gutterAt(page: Page, text: string) {
  const line = page.locator('.change-line', { has: page.locator('.change-text', { hasText: text }) })
  return line.locator('.change-gutter')
}

const waiting = (page: Page) => page.getByRole('region', { name: 'Review' }).getByRole('status')

test(
  'comments on lines go to the agent as one message; one whose code has changed says so',
  options,
  async (t) => {
    const { client, page, go } = await opened(t)
    const { repository, sessionId } = await inRepository(t, client, { [FILE]: `${before}\n` })
    repository.write(FILE, `${after}\n`)
    await go(`/s/${sessionId}/changes?scope=uncommitted`)

    await gutterAt(page, 'step5 = 40').hover()
    await page.mouse.down()
    await gutterAt(page, 'step6 = 50').hover()
    await page.mouse.up()
    await page.getByText('Comment on lines 5–6').waitFor()
    await page.getByLabel('Comment', { exact: true }).fill('Why so much more?')
    await page.getByRole('button', { name: 'Add the comment' }).click()
    await page.getByText('Why so much more?').waitFor()
    await quiet(page)

    // The keyboard alone: to the next line, and what is to be said.
    await page.locator('.change-row').first().focus()
    for (let at = 0; at < 6; at++) await page.keyboard.press('ArrowDown')
    await page.keyboard.press('Enter')
    await page.getByLabel('Comment', { exact: true }).fill('Name it.')
    await page.keyboard.press('Control+Enter')
    await until(async () => (await waiting(page).textContent()) === '2 comments', 'both comments are there')
    await quiet(page)

    await page.getByLabel('Comment on lines 5–6').getByRole('button', { name: 'Edit the comment' }).click()
    await page.getByLabel('Comment', { exact: true }).fill('Why ten times as much?')
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByText('Why ten times as much?').waitFor()

    repository.write(FILE, `${after.replace('const step5 = 40', 'const step5 = 41')}\n`)
    await page.getByRole('button', { name: 'Look again' }).click()
    await page.getByText('1 on code that has changed since').waitFor()
    await quiet(page)
    await page.getByRole('button', { name: '1 not in what is shown' }).click()
    await page.getByLabel('Comment on lines 5–6').getByText('the code has changed since').waitFor()

    await page.getByRole('button', { name: 'Send to the agent' }).click()
    await page.getByLabel('What the message begins with').fill('Two questions:')
    await page.getByRole('dialog').getByRole('button', { name: 'Send', exact: true }).click()
    await page.getByText('2 comments sent as one message.').waitFor()
    const { turns } = await client.call('turn.list', { sessionId })
    assert.equal(turns.length, 1)
    const said = JSON.stringify(turns[0]!.input)
    for (const part of ['Two questions:', 'Why ten times as much?', 'Name it.', FILE, 'const step5 = 40']) {
      assert.ok(said.includes(part), `${part} in ${said}`)
    }
    const { comments } = await client.call('review.list', { sessionId })
    assert.deepEqual(
      comments.map(({ sentIn }) => sentIn),
      [turns[0]!.id, turns[0]!.id],
    )
    await page.getByText('sent', { exact: true }).waitFor()
  },
)

test(
  'a comment that was removed is gone, and one being written is there after a look elsewhere',
  options,
  async (t) => {
    const { client, page, go } = await opened(t)
    const { repository, sessionId } = await inRepository(t, client, { [FILE]: `${before}\n` })
    repository.write(FILE, `${after}\n`)
    await go(`/s/${sessionId}/changes?scope=uncommitted`)
    await gutterAt(page, 'step5 = 40').hover()
    await page.mouse.down()
    await page.mouse.up()
    await page.getByLabel('Comment', { exact: true }).fill('Half a th')
    await page.getByRole('link', { name: 'Search' }).click()
    await page.getByLabel('What to look for').waitFor()
    await page.goBack()
    assert.equal(await page.getByLabel('Comment', { exact: true }).inputValue(), 'Half a th')
    await quiet(page)
    await page.getByRole('button', { name: 'Add the comment' }).click()
    await page.getByText('Half a th').waitFor()
    await quiet(page)
    await page.getByRole('button', { name: 'Remove the comment' }).click()
    await page.getByText('Half a th').waitFor({ state: 'detached' })
    assert.deepEqual((await client.call('review.list', { sessionId })).comments, [])
  },
)

test('a checkpoint is looked at, restored and undone; work of one’s own is not lost', options, async (t) => {
  const { client, page, go } = await opened(t)
  const { repository, sessionId } = await inRepository(t, client, { [FILE]: 'one\n', 'mine.txt': 'mine\n' })
  // While git puts another one in its place, a file may be gone.
  const read = (file: string): string => {
    const path = join(repository.path, file)
    return existsSync(path) ? readFileSync(path, 'utf8') : ''
  }
  await turnThat(client, sessionId, () => repository.write(FILE, 'two\n'), 'Make it two. ')
  await go(`/s/${sessionId}/changes`)
  await page.getByText('added: two', { exact: true }).waitFor()

  await page.getByRole('button', { name: 'Checkpoints' }).click()
  await page.getByText('Before: Make it two.').waitFor()
  await page.getByText('the turn changed 1 file').waitFor()
  await quiet(page)
  await page.getByRole('button', { name: 'Look', exact: true }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByText('Restoring would do this to 1 file:').waitFor()
  await dialog.getByRole('button', { name: 'Restore' }).click()
  await page.getByText('1 file restored.').waitFor()
  assert.equal(read(FILE), 'one\n')
  await page.getByRole('button', { name: 'Undo' }).click()
  await until(() => read(FILE) === 'two\n', 'the file is as it was before')

  repository.write(FILE, 'three, by hand\n')
  await quiet(page)
  await page.getByRole('button', { name: 'Checkpoints' }).click()
  await page.getByText('the turn changed 1 file').waitFor()
  await quiet(page)
  await page.getByRole('button', { name: 'Look', exact: true }).last().click()
  const mine = dialog.getByLabel('Files of yours that are in the way')
  await mine.getByText(FILE).waitFor()
  assert.equal(await dialog.getByRole('button', { name: 'Restore' }).getAttribute('aria-disabled'), 'true')
  assert.equal(read(FILE), 'three, by hand\n')

  // Whoever wants it all the same can have it, and take that back, too.
  await dialog.getByRole('button', { name: 'Overwrite my files' }).click()
  await dialog.waitFor({ state: 'detached' })
  assert.equal(read(FILE), 'one\n')
  await page.getByRole('button', { name: 'Undo' }).click()
  await until(() => read(FILE) === 'three, by hand\n', 'my own work is back')
})

test('turns, the session and the branch show what is theirs', options, async (t) => {
  const { client, page, go } = await opened(t)
  const { repository, sessionId } = await inRepository(t, client, { 'a.txt': 'a\n' })
  await turnThat(client, sessionId, () => repository.write('first.txt', 'first\n'), 'The first. ')
  await turnThat(client, sessionId, () => repository.write('second.txt', 'second\n'), 'The second. ')
  await go(`/s/${sessionId}/changes`)
  const files = page.getByRole('navigation', { name: 'Files' }).getByRole('button')
  const named = (): Promise<string[]> => files.locator('.changes-file-name').allTextContents()
  await until(async () => (await named()).join() === 'second.txt', 'the last turn')
  await page
    .getByRole('combobox', { name: 'Turn' })
    .selectOption({ label: 'The first. [[ask May I go on?]]' })
  await until(async () => (await named()).join() === 'first.txt', 'the first turn')
  await page.getByRole('radio', { name: 'Session' }).click()
  await until(async () => (await named()).join() === 'first.txt,second.txt', 'the whole session')
  assert.match(page.url(), /scope=session$/)
  await page.reload()
  await until(async () => (await named()).join() === 'first.txt,second.txt', 'the same after a reload')
  repository.commit()
  await page.getByRole('radio', { name: 'Uncommitted' }).click()
  await page.getByText('Nothing has changed').waitFor()
  await page.getByRole('radio', { name: 'Branch' }).click()
  await page.getByText('There is no branch to compare with', { exact: false }).waitFor()
  repository.git('checkout', '-q', '-b', 'topic', 'HEAD~1')
  repository.write('third.txt', 'third\n')
  repository.commit()
  repository.write('fourth.txt', 'fourth\n')
  await page.getByRole('button', { name: 'Look again' }).click()
  await until(
    async () => (await named()).join() === 'fourth.txt,third.txt',
    'what the branch has, and main has not',
  )
  assert.match(page.url(), /scope=branch$/)
})

test(
  'a change of 20,000 lines is there from the first to the last, and only what is near is drawn',
  options,
  async (t) => {
    const { client, page, go } = await opened(t)
    const { repository, sessionId } = await inRepository(t, client, { 'a.txt': 'a\n' })
    for (let file = 1; file <= 10; file++) {
      const lines = Array.from({ length: 1990 }, (_, at) => `line ${at + 1} of ${file}`)
      repository.write(`part${String(file).padStart(2, '0')}.txt`, `${lines.join('\n')}\n`)
    }
    await go(`/s/${sessionId}/changes?scope=uncommitted`)
    const heads = page.locator('.change-file-name')
    await until(async () => (await heads.count()) === 10, 'all files are there, folded')
    await page.getByText('large', { exact: true }).first().waitFor()
    for (let file = 1; file <= 10; file++) {
      const name = `part${String(file).padStart(2, '0')}.txt`
      await page.getByRole('navigation', { name: 'Files' }).getByRole('button', { name }).click()
      await quiet(page)
      await page.getByRole('button', { name, exact: true, expanded: false }).click()
      await page.getByRole('button', { name, exact: true, expanded: true }).waitFor()
      await quiet(page)
    }
    await page.evaluate(() => document.getElementById('main')!.scrollTo(0, 1e9))
    await page.getByText('added: line 1990 of 10', { exact: true }).waitFor()
    assert.ok((await page.locator('.change-row').count()) < 200)
    await page.getByRole('navigation', { name: 'Files' }).getByRole('button', { name: 'part05.txt' }).click()
    await page.getByText('added: line 1 of 5', { exact: true }).waitFor()
  },
)

test(
  'side by side on a desk, one below the other on a phone, and nothing wider than the screen',
  options,
  async (t) => {
    const { client, page, go } = await opened(t)
    const { repository, sessionId } = await inRepository(t, client, { [FILE]: `${before}\n` })
    repository.write(FILE, `${after}\n${'x'.repeat(3000)} ${'word '.repeat(500)}\n`)
    await go(`/s/${sessionId}/changes?scope=uncommitted`)
    await page.getByRole('radio', { name: 'Side by side' }).click()
    await page.locator('.change-pair').first().waitFor()
    assert.equal(await overflow(page), 0)
    await page.reload()
    await page.locator('.change-pair').first().waitFor()
    await page.setViewportSize(PHONE)
    await page.locator('.change-line').first().waitFor()
    assert.equal(await overflow(page), 0)
    await page.getByLabel('Go to a file').selectOption(FILE)
  },
)

/** How far each line that is drawn is from the end of the one above it. */
function gaps(page: Page): Promise<number[]> {
  return page.evaluate(() => {
    const boxes = [...document.querySelectorAll('.virtual-list-line')]
      .map((line) => line.getBoundingClientRect())
      .sort((a, b) => a.top - b.top)
    return boxes.slice(1).map(({ top }, at) => Math.round(top - boxes[at]!.bottom))
  })
}

test('lines that are higher than others leave no hole, and cover none', options, async (t) => {
  const { client, page, go } = await opened(t)
  const long = `const long = '${'and on '.repeat(300)}'`
  const { repository, sessionId } = await inRepository(t, client, { 'a.ts': 'one\ntwo\n', 'b.ts': 'x\n' })
  repository.write('a.ts', 'one\n2\n')
  repository.write('b.ts', `x\n${long}\ny\n`)
  await go(`/s/${sessionId}/changes?scope=uncommitted`)
  const whole = async (when: string): Promise<unknown> => {
    let found: number[] = []
    return until(
      async () => {
        found = await gaps(page)
        return found.length > 5 && found.every((gap) => gap === 0)
      },
      () => `${when}, each line is below the other: ${found.join()}`,
    )
  }
  await page.getByText('and on and on').first().waitFor()
  await whole('one below the other')
  await page.getByRole('radio', { name: 'Side by side' }).click()
  await page.locator('.changes-split').waitFor()
  await whole('side by side')
  await page.locator('.change-row').first().focus()
  await page.keyboard.press('ArrowDown')
  await page.keyboard.press('Enter')
  await page.getByLabel('Comment', { exact: true }).fill('Why?')
  await whole('while a comment is written')
  await page.keyboard.press('Control+Enter')
  await page.getByText('Why?').waitFor()
  await whole('with a comment')
})
