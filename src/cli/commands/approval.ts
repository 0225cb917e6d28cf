import { byQuestion } from '../answer.ts'
import type { Cli, Command } from '../cli.ts'
import type { Api, NativeClient } from '../../client/client.ts'
import { clean, shortId } from '../format.ts'
import { CliError, EXIT } from '../exit.ts'
import { json } from '../options.ts'
import { approvalText, decisionText, questionsOf } from '../render.ts'
import { resolveApproval } from '../resolve.ts'

type Approval = Api['approval.get']['result']
type Decide = Api['approval.decide']['params']

export const list: Command = (cli) =>
  cli.withDaemon(async (client) => {
    const found = await client.call('approval.list')
    if (cli.json) return found.approvals.forEach(cli.printJson)
    if (cli.options['quiet']) return found.approvals.forEach((approval) => cli.print(clean(approval.id)))
    if (found.approvals.length === 0) return cli.note('no approval waits for a decision')
    for (const approval of found.approvals) print(cli, approval)
  })

function print(cli: Cli, approval: Approval): void {
  const session = cli.paint('bold', `session ${shortId(approval.sessionId)}`)
  cli.stdout.write(`${session} ${approvalText(approval, cli.paint)}`)
}

export const show: Command = (cli, [fragment]) =>
  cli.withDaemon(async (client) => {
    const approvalId = await resolveApproval(client, String(fragment))
    const approval = await client.call('approval.get', { approvalId })
    if (cli.json) return cli.printJson(approval)
    print(cli, approval)
    if (approval.decision) cli.print(decisionText(approval.decision, approval.decidedBy ?? ''))
  })

export const approve: Command = (cli, [fragment]) =>
  cli.withDaemon(async (client) => {
    const input = json(cli.options, 'input')
    const approvalId = await resolveApproval(client, String(fragment))
    await decide(cli, client, {
      approvalId,
      behavior: 'allow',
      ...(input !== undefined && { input }),
      ...(input === undefined && (await answersFor(cli, client, approvalId))),
      ...(cli.options['session'] === true && { forSession: true }),
      ...((cli.options['directory'] === true || cli.options['project'] === true) && {
        forDirectory: true,
        forSession: true,
      }),
      by: 'cli',
    })
  })

export const deny: Command = (cli, [fragment, words]) =>
  cli.withDaemon(async (client) => {
    const approvalId = await resolveApproval(client, String(fragment))
    await decide(cli, client, {
      approvalId,
      behavior: 'deny',
      comment: (words as string[]).join(' '),
      by: 'cli',
    })
  })

async function answersFor(
  cli: Cli,
  client: NativeClient,
  approvalId: string,
): Promise<{ answers?: Record<string, string> }> {
  const given = (cli.options['answer'] ?? []) as string[]
  const { kind, input, decision } = await client.call('approval.get', { approvalId })
  if (decision !== null) return {} // the daemon refuses
  if (kind !== 'question') {
    if (given.length === 0) return {}
    throw new CliError('this approval is not a question; leave out --answer', EXIT.usage)
  }
  const questions = questionsOf(input)
  if (given.length === questions.length) return { answers: byQuestion(questions, given) }
  const asked = questions.length === 1 ? 'a question' : `${questions.length} questions`
  throw new CliError(
    `the agent asks ${asked}; give ${questions.map(() => '--answer TEXT').join(' ')}, or refuse with: corral deny`,
    EXIT.usage,
  )
}

async function decide(cli: Cli, client: NativeClient, decision: Decide): Promise<void> {
  const approval = await client.call('approval.decide', decision)
  if (cli.json) cli.printJson(approval)
  else
    cli.print(
      `${decision.behavior === 'allow' ? 'allowed' : 'denied'} ${clean(approval.tool)} (${shortId(approval.id)})`,
    )
}
