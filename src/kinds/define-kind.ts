import type { Static, TSchema } from '@sinclair/typebox'
import { TypeCompiler } from '@sinclair/typebox/compiler'
import type { Fault, QuestionKind, Random, Score } from '../domain/ports/question-kind.ts'

/** A kind as its folder writes it: each function is given what is of its schema. */
export type KindRules<S extends TSchema, K extends TSchema, A extends TSchema> = {
  words: readonly string[]
  penalizes: boolean
  schema: { spec: S; key: K; answer: A }
  /** What the schema can't say. */
  faults: (word: string, spec: Static<S>, key: Static<K>) => Fault[]
  arrange: (spec: Static<S>, random: Random) => string[] | null
  /** Whether an answer of that form is one to this question. */
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
  score: (spec: Static<S>, key: Static<K>, answer: Static<A>) => Score
}

/** The kind for the domain, which knows no schema: what it passes on is checked before the rules see it. */
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
    isAnswer: (word, ofSpec, given) => answer.is(given) && rules.fits(word, spec.read(ofSpec), given),
    isEmpty: (given) => rules.isEmpty(answer.read(given)),
    describe: (ofSpec, given) => rules.describe(spec.read(ofSpec), answer.read(given)),
    understand: (ofSpec, words) => rules.understand(spec.read(ofSpec), words),
    fromForm: rules.fromForm,
    toForm: (given) => rules.toForm(answer.read(given)),
    makeUp: (ofSpec) => rules.makeUp(spec.read(ofSpec)),
    ...(rules.accepts && {
      accepts: {
        group: (ofKey, given) => rules.accepts!.group(key.read(ofKey), answer.read(given)),
        add: (ofKey, given, share) => rules.accepts!.add(key.read(ofKey), answer.read(given), share),
      },
    }),
    score: (ofSpec, ofKey, given) => rules.score(spec.read(ofSpec), key.read(ofKey), answer.read(given)),
  }
}

/** Compiled when it is first needed: most processes never see most kinds. */
function reader<T extends TSchema>(schema: T) {
  let compiled: ReturnType<typeof TypeCompiler.Compile<T>> | undefined
  const checker = () => (compiled ??= TypeCompiler.Compile(schema))
  return {
    is: (value: unknown): value is Static<T> => checker().Check(value),
    read: (value: unknown): Static<T> => {
      if (checker().Check(value)) return value
      const error = checker().Errors(value).First()
      throw new Error(`What was stored is of another form: ${error?.path} ${error?.message}`)
    },
    faults: (field: string, value: unknown): Fault[] => {
      const error = checker().Check(value) ? undefined : checker().Errors(value).First()
      return error ? [{ field: `${field}${error.path.replaceAll('/', '.')}`, text: error.message }] : []
    },
  }
}
