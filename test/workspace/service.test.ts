import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { createWorkspace } from '../../src/workspace/service.ts'
import { aPlace, checkoutAt, type Checkout } from './support.ts'

const place = aPlace()
const home = join(place.root, 'of sessions')
const workspace = createWorkspace({ env: place.env, home, problem() {} })
after(async () => {
  await workspace.stop()
  place.close()
})

/** Checkouts whose files and whose `.git` are not in the same place, or that are not the main one. */
const CHECKOUTS: [name: string, make: () => Checkout][] = [
  [
    'a linked worktree of the user',
    () => {
      const main = place.repo('main one')
      main.git('worktree', 'add', '-q', '-b', 'feature', '../linked "one" ')
      return checkoutAt(join(place.root, 'linked "one" '), place.env)
    },
  ],
  [
    'a submodule',
    () => {
      const outer = place.repo('outer')
      outer.git('submodule', '--quiet', 'add', place.repo('inner').path, 'sub')
      return checkoutAt(join(outer.path, 'sub'), place.env)
    },
  ],
  [
    'a git directory elsewhere',
    () => {
      const main = place.repo('separate')
      main.git('init', '-q', '--separate-git-dir', join(place.root, 'elsewhere'))
      return main
    },
  ],
]

for (const [index, [name, make]] of CHECKOUTS.entries()) {
  test(`the work of a session goes back to where it came from: ${name}`, async () => {
    const checkout = make()
    const id = `of${index}`
    const { path } = await workspace.addWorktree(checkout.path, id)
    checkoutAt(path, place.env).write('done', 'by the agent\n')
    assert.match((await workspace.worktreeDiff(path, id)).text, /by the agent/)
    assert.equal((await workspace.mergeWorktree(path, id)).outcome, 'merged')
    assert.equal(existsSync(join(checkout.path, 'done')), true)
    await workspace.discardWorktree(path, id, false)
    assert.equal(existsSync(path), false)
    assert.equal(checkout.git('branch', '--list', 'corral/*'), '')
  })
}
