import type { AssessmentWarnings } from '../../../domain/assessments/read-warnings.ts'
import { type Html, html } from '../../../html/html.ts'
import { formatCount } from '../../../http/pages/candidate-view.ts'

/** Warnings about likely mistakes; empty if there are none. */
export const assessmentWarnings = ({ withoutPoints, devices, open }: AssessmentWarnings, questionCount: number): Html =>
  html`${[
    withoutPoints > 0 && formatPoints(withoutPoints, questionCount),
    devices.length > 0 && `Candidates need a ${devices.join(' and a ')} to answer.`,
    open > 0 && describeChangeReach(open),
  ].map((sentence) => sentence && html`<p class="hint">${sentence}</p>\n`)}`

const formatPoints = (withoutPoints: number, questionCount: number): string =>
  withoutPoints === questionCount
    ? 'No question has points, so results will have no score.'
    : `${formatCount(withoutPoints, 'question')} of ${questionCount} ${withoutPoints === 1 ? 'has' : 'have'} no points.`

/** Says how many invited candidates a change of the questions reaches. @param open number of invites that have not started. */
export const describeChangeReach = (open: number): string =>
  `${formatCount(open, 'candidate')} ${open === 1 ? 'is' : 'are'} invited and ${open === 1 ? 'has' : 'have'} not started: they get your changes to the questions. Candidates who have started keep the questions they have.`
