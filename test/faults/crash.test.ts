import { crashSuite } from '../support/crash.ts'

crashSuite({ agent: 'demo', rounds: 10 })
