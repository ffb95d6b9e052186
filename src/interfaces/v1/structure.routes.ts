import { type Static, Type } from '@sinclair/typebox'
import { NAVIGATIONS } from '../../domain/assessments/sections.ts'
import { getStructure, type Structure } from '../../domain/assessments/structure.ts'
import type { TypedApp } from '../../http/requests/typed-app.ts'
import { Nullable, StringEnum } from '../../http/schema/field-types.ts'
import { NAME } from '../../http/schema/schema-keywords.ts'
import { AssessmentParams } from './assessment-settings.routes.ts'

const Id = (description: string) => Type.String({ format: 'uuid', description })

const AssessmentStructure = Type.Object(
  {
    sections: Type.Array(
      Type.Object({
        id: Id('Id of the section'),
        name: Type.String(),
        intro: Type.String({ description: 'Shown before the section, as Markdown' }),
        timeLimit: Type.Integer({ description: 'Seconds from when the candidate opens the section; 0: no limit' }),
        navigation: StringEnum(NAVIGATIONS, { description: 'forward: one question after the other; free: back and forth' }),
        shuffle: Type.Boolean({ description: 'true: each candidate gets the questions in a random order' }),
      }),
      { description: 'In their order. Empty: the assessment has no sections' },
    ),
    pools: Type.Array(
      Type.Object({
        id: Id('Id of the pool'),
        name: Type.String(),
        draw: Type.Integer({ description: 'Number of questions that a candidate gets, drawn at random at the start' }),
        points: Type.Integer({ description: 'Points of each of its questions' }),
      }),
    ),
    questions: Type.Array(
      Type.Object({
        id: Id('Id of the question'),
        sectionId: Nullable(Id('Its section; null: the assessment has none')),
        poolId: Nullable(Id('Its pool; null: each candidate gets it')),
      }),
      { description: 'All questions in their order. The questions of a section, and of a pool, follow one another' },
    ),
  },
  { [NAME]: 'AssessmentStructure' },
)
const OneStructure = Type.Object(
  { structure: AssessmentStructure },
  { [NAME]: 'OneAssessmentStructure', description: 'The structure' },
)

const presentStructure = ({ sections, pools, questions }: Structure): Static<typeof OneStructure> => ({
  structure: {
    sections: sections.map(({ id, name, intro, timeLimit, navigation, shuffle }) => ({
      id,
      name,
      intro,
      timeLimit,
      navigation: navigation === 'free' ? 'free' : 'forward',
      shuffle,
    })),
    pools: pools.map(({ id, name, draw, points }) => ({ id, name, draw, points })),
    questions: questions.map(({ id, sectionId, poolId }) => ({ id, sectionId, poolId })),
  },
})

/** Beyond v1.md: sections and pools of an assessment. */
export function structureRoutes(app: TypedApp): void {
  app.get(
    '/assessments/:assessmentId/structure',
    {
      schema: {
        tags: ['Assessments'],
        operationId: 'getAssessmentStructure',
        scope: 'assessments:read',
        summary: 'Get the structure of an assessment',
        description:
          'Sections and pools of an assessment. Each candidate gets some questions of each pool. `totalPoints` of the assessment is what a candidate can reach.',
        params: AssessmentParams,
        response: { 200: OneStructure },
        hasEtag: true,
        errors: ['assessment_not_found'],
      },
    },
    async ({ ctx, params }) => presentStructure(await getStructure(ctx, params.assessmentId)),
  )
}
