/*
 * All that needs nothing special of its daemon, with one daemon. What was refused comes first, since nobody has been started then;
 * what changes the settings comes last.
 */
import './refused.ts'
import './messages.ts'
import './chat.ts'
import './tools.ts'
import './functions.ts'
import './sticky.ts'
import './remembers.ts'
import './errors.ts'
import './observe.ts'
