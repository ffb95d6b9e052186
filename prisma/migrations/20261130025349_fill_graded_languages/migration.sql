-- no-transaction
-- Only for submissions that wait for graders: nobody reads it in others, and the queue shows those without it to all graders.
DO $$
DECLARE
  filled int;
BEGIN
  LOOP
    UPDATE submissions SET graded_languages = ARRAY(
      SELECT DISTINCT code
      FROM submission_questions AS question
      CROSS JOIN LATERAL (SELECT coalesce(nullif(target_language, ''), nullif(source_language, ''), '') AS language) AS graded
      CROSS JOIN LATERAL unnest(ARRAY[language, split_part(language, '-', 1)]) AS codes (code)
      WHERE question.organization_id = submissions.organization_id AND question.submission_id = submissions.id AND question.points > 0
    )
    WHERE id IN (
      SELECT id FROM submissions
      WHERE graded_languages IS NULL AND needs_grading IS NOT FALSE AND state IN ('in_progress', 'submitted') LIMIT 500
    );
    GET DIAGNOSTICS filled = ROW_COUNT;
    COMMIT;
    EXIT WHEN filled = 0;
  END LOOP;
END
$$;
