# `elmo-tasks serve` on the CPU:
#   docker build -t elmo-tasks .
#   docker run --rm -p 127.0.0.1:8000:8000 -v "$PWD/out:/models:ro" elmo-tasks /models/ner_elmo/model.tar.gz
FROM python:3.13-slim
ENV PIP_CONSTRAINT=/src/requirements.txt PIP_EXTRA_INDEX_URL=https://download.pytorch.org/whl/cpu PIP_NO_CACHE_DIR=1
COPY pyproject.toml requirements.txt README.md LICENSE* NOTICE* /src/
COPY elmo_tasks /src/elmo_tasks
COPY fixtures /src/fixtures
COPY training_config /src/training_config
RUN pip install '/src[tasks,web]' && pip install --no-deps allennlp==2.10.1 && useradd --uid 1000 --create-home elmo
USER 1000
WORKDIR /home/elmo
ENTRYPOINT ["elmo-tasks", "serve", "--host", "0.0.0.0"]
EXPOSE 8000
