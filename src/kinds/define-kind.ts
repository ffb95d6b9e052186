import type { Static, TSchema } from '@sinclair/typebox'
import { TypeCompiler } from '@sinclair/typebox/compiler'
import type { AnswerScoring, DefinitionFault, FileLimits, QuestionKind, Random } from '../domain/ports/question-kind.ts'

/** Rules of a kind, typed by its schemas. Each function receives validated values. */
export type KindRules<S extends TSchema, K extends TSchema, A extends TSchema> = {
  words: readonly string[]
  penalizes: boolean
  schema: { spec: S; key: K; answer: A }
  /** Errors that the schema can't express. */
  faults: (word: string, spec: Static<S>, key: Static<K>) => DefinitionFault[]
  arrange: (spec: Static<S>, random: Random) => string[] | null
  /** True if an answer that matches the schema is possible for this question. */
  fits: (word: string, spec: Static<S>, answer: Static<A>) => boolean
  isEmpty: (answer: Static<A>) => boolean
  describe: (spec: Static<S>, answer: Static<A>) => string
  understand: (spec: Static<S>, words: string) => Static<A> | undefined
  fromForm: (values: string[]) => unknown
  toForm: (answer: Static<A>) => string[]
  makeUp: (spec: Static<S>) => Static<A>
  accepts?: {
    group: (key: Static<K>, answer: Static<A>) => string
    add: (key: Static<K>, answer: Static<A>, share: number) => Static<K> | null
  }
  score: (spec: Static<S>, key: Static<K>, answer: Static<A>) => AnswerScoring
  files?: (spec: Static<S>) => FileLimits
}

/** Adapts a kind to the domain, which knows no schemas: values are validated before the rules see them. */
export function defineKind<S extends TSchema, K extends TSchema, A extends TSchema>(rules: KindRules<S, K, A>): QuestionKind {
  const spec = reader(rules.schema.spec)
  const key = reader(rules.schema.key)
  const answer = reader(rules.schema.answer)
  return {
    words: rules.words,
    penalizes: rules.penalizes,
    faults: (word, ofSpec, ofKey) => {
      const malformed = [...spec.faults('spec', ofSpec), ...key.faults('key', ofKey)]
      return malformed.length > 0 ? malformed : rules.faults(word, ofSpec as Static<S>, ofKey as Static<K>)
    },
    arrange: (ofSpec, random) => rules.arrange(spec.read(ofSpec), random),
    isAnswer: (word, ofSpec, value) => answer.is(value) && rules.fits(word, spec.read(ofSpec), value),
    isEmpty: (value) => rules.isEmpty(answer.read(value)),
    describe: (ofSpec, value) => rules.describe(spec.read(ofSpec), answer.read(value)),
    understand: (ofSpec, words) => rules.understand(spec.read(ofSpec), words),
    fromForm: rules.fromForm,
    toForm: (value) => rules.toForm(answer.read(value)),
    makeUp: (ofSpec) => rules.makeUp(spec.read(ofSpec)),
    ...(rules.accepts && {
      accepts: {
        group: (ofKey, value) => rules.accepts!.group(key.read(ofKey), answer.read(value)),
        add: (ofKey, value, share) => rules.accepts!.add(key.read(ofKey), answer.read(value), share),
      },
    }),
    ...(rules.files && { files: (ofSpec) => rules.files!(spec.read(ofSpec)) }),
    score: (ofSpec, ofKey, value) => rules.score(spec.read(ofSpec), key.read(ofKey), answer.read(value)),
  }
}

/** Compiles the schema on its first use: most processes never use most kinds. */
function reader<T extends TSchema>(schema: T) {
  let compiled: ReturnType<typeof TypeCompiler.Compile<T>> | undefined
  const checker = () => (compiled ??= TypeCompiler.Compile(schema))
  return {
    is: (value: unknown): value is Static<T> => checker().Check(value),
    read: (value: unknown): Static<T> => {
      if (checker().Check(value)) return value
      const error = checker().Errors(value).First()
      throw new Error(`A stored value does not match its schema: ${error?.path} ${error?.message}`)
    },
    faults: (field: string, value: unknown): DefinitionFault[] => {
      const error = checker().Check(value) ? undefined : checker().Errors(value).First()
      return error ? [{ field: `${field}${error.path.replaceAll('/', '.')}`, text: error.message }] : []
    },
  }
}
