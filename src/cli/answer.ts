import type { Api } from '../client/client.ts'
import { questionsOf, type Asked, type Question } from './render.ts'

type Decision = Api['approval.decide']['params']

/** What a typed line means while an approval is open. */
type Reply = { decide: Decision } | { again: string }

/** An approval that is being answered: a question may need several lines. */
export interface Answering {
  readonly asked: Asked
  prompt(): string
  line(text: string): Reply
}

export function answering(asked: Asked): Answering {
  return asked.kind === 'question' ? answeringQuestions(asked) : answeringYesNo(asked)
}

const HELP = `y          allow it
n [why]    refuse it, and tell the agent why
a          allow it in this session from now on
p          allow it in this project directory from now on`

function answeringYesNo(asked: Asked): Answering {
  return {
    asked,
    prompt: () => 'allow? [y/n/a/p] ',
    line(text) {
      const [, word = '', comment = ''] = /^(\S*)\s*([^]*)$/.exec(text.trim()) ?? []
      const approvalId = asked.id
      if (comment !== '' && !/^no?$/i.test(word)) return { again: HELP }
      switch (word.toLowerCase()) {
        case 'y':
        case 'yes':
          return { decide: { approvalId, behavior: 'allow', by: 'cli' } }
        case 'a':
        case 'always':
          return { decide: { approvalId, behavior: 'allow', forSession: true, by: 'cli' } }
        case 'p':
        case 'project':
          return {
            decide: { approvalId, behavior: 'allow', forSession: true, forDirectory: true, by: 'cli' },
          }
        case 'n':
        case 'no':
          return { decide: { approvalId, behavior: 'deny', comment, by: 'cli' } }
        default:
          return { again: HELP }
      }
    },
  }
}

function answeringQuestions(asked: Asked): Answering {
  const questions = questionsOf(asked.input)
  const answers: string[] = []
  return {
    asked,
    prompt: () =>
      questions.length > 1 ? `answer ${answers.length + 1} of ${questions.length}: ` : 'answer: ',
    line(text) {
      if (text.trim() === '') return { again: 'type a number from the list, or your own answer' }
      answers.push(text.trim())
      if (answers.length < questions.length) return { again: questions[answers.length]!.question }
      return {
        decide: {
          approvalId: asked.id,
          behavior: 'allow',
          answers: byQuestion(questions, answers),
          by: 'cli',
        },
      }
    },
  }
}

/** Numbers stand for the options of their question. */
export function byQuestion(
  questions: readonly Question[],
  answers: readonly string[],
): Record<string, string> {
  const pairs = questions.map(({ question, options }, index) => {
    const text = answers[index] ?? ''
    const chosen = /^\d+$/.test(text) ? options[Number(text) - 1] : undefined
    return [question, chosen?.label ?? text]
  })
  return Object.fromEntries(pairs) as Record<string, string>
}
