import assert from 'node:assert/strict'
import { readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { COMMANDS } from './commands.ts'
import { type Outcome, type ProgramRig, startPrograms } from './rig.ts'

/** What it has printed, wherever; for the reader of a failure, all of it. */
function printed({ code, stdout, stderr }: Outcome): string {
  return `${stdout}\n${stderr}\n(exit ${code})`
}

/** Programs that people start in a terminal: coding agents that bring their own tools and speak to any API. */
for (const { name, absent: skip, shapes, shell, prepare } of COMMANDS) {
  for (const shape of shapes) {
    describe(`${name}, in the shape of ${shape}`, { skip }, () => {
      let rig: ProgramRig
      let say: (prompt: string, goesOn?: boolean) => Promise<Outcome>
      before(async () => {
        rig = await startPrograms('demo')
        const command = prepare(rig, shape)
        say = (prompt, goesOn) => rig.run(...command(prompt, goesOn))
      })
      after(() => rig.close())

      test('shows the answer, and goes on with the conversation', async () => {
        const first = await say('[[remember PLUM]] [[say hello there]]')
        assert.match(printed(first), /hello there/)
        assert.equal(first.code, 0, printed(first))
        assert.match(printed(await say('[[recall]]', true)), /recall: PLUM/)
      })

      test('has its own tool called, and brings the result', async () => {
        const made = join(rig.work, 'made.txt')
        rmSync(made, { force: true })
        const [tool, more] = shell
        const input = { command: 'echo it was made > made.txt && cat made.txt', ...more }
        const done = await say(rig.calling(tool, input))
        assert.match(printed(done), /tool said:[^]*it was made/)
        assert.equal(readFileSync(made, 'utf8'), 'it was made\n')
      })

      test('shows why there is no answer', async () => {
        const refused = await say('[[fail 401]]')
        assert.match(printed(refused), /401/)
        assert.notEqual(refused.code, 0, printed(refused))
      })
    })
  }
}
