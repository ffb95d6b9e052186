-- Languages that a grader of the submission may have to know, as domain/submissions/graded-languages.ts has them.
ALTER TABLE "submissions" ADD COLUMN "graded_languages" TEXT[];
