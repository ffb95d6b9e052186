import type { CandidateMailKind } from '../../domain/mails/candidate-mails.ts'
import type { MailTexts } from '../../locales/languages.ts'
import type { Letter } from '../letter.ts'
import { notices, reminder } from './automatic.ts'
import type { CandidateFacts } from './candidate-facts.ts'
import { invitation, reactivated, resent, withdrawn } from './invitation.ts'

export const candidateLetters: Record<CandidateMailKind, (t: MailTexts, facts: CandidateFacts) => Letter> = {
  ...{ invitation, resent, reactivated },
  not_accepted: reminder('not_accepted'),
  not_started: reminder('not_started'),
  not_finished: reminder('not_finished'),
  ...notices,
  withdrawn,
}
