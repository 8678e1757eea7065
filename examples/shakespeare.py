"""Let a network learn Shakespeare letter by letter, and write like him after every epoch.

Two LSTM layers of 200 units read pieces of text and say which character comes next. They are trained by truncated
backprop over segments of 50 characters. The sonnets come with the library; --texts takes other files instead.
"""

from __future__ import annotations

import argparse
import pathlib
import time

import numpy as np

import nd
from nd.dataset import CharacterIterator, shakespeare_sonnets
from nn import LSTM, InputType, MultiLayerConfiguration, MultiLayerNetwork, NeuralNetConfiguration, RnnOutputLayer
from optimize import Adam, PolySchedule

UNITS = 200
SEGMENT = 50
PIECE = 500  # characters of a series, ten segments
HELD_OUT = 0.1  # of every text, its end


def texts_of(files: list[str]) -> tuple[str, str]:
    """Return what is trained on and what is held out, of these files or of the sonnets."""
    texts = [pathlib.Path(file).read_text(encoding="utf-8") for file in files] or [shakespeare_sonnets()]
    borders = [int(len(text) * (1.0 - HELD_OUT)) for text in texts]
    parts = list(zip(texts, borders, strict=True))
    return "".join(text[:border] for text, border in parts), "".join(text[border:] for text, border in parts)


def character_model(characters: int, seed: int, iterations: int) -> MultiLayerConfiguration:
    """Return the configuration for an alphabet, with a learning rate that falls to 0 in so many iterations."""
    rate = PolySchedule("iteration", 4e-3, 1.0, max(iterations, 1))
    return NeuralNetConfiguration(
        seed=seed,
        weight_init="xavier",
        updater=Adam(rate),
        gradient_normalization="clip_element_wise_absolute_value",
        gradient_normalization_threshold=1.0,
    ).list(
        LSTM(n_out=UNITS, activation="tanh"),
        LSTM(n_out=UNITS, activation="tanh"),
        RnnOutputLayer(n_out=characters, loss="mcxent", activation="softmax"),
        input_type=InputType.recurrent(characters),
        backprop_type="truncated_bptt",
        tbptt_fwd_length=SEGMENT,
        tbptt_back_length=SEGMENT,
        tbptt_exact=True,
    )


def loss_per_character(net: MultiLayerNetwork, iterator: CharacterIterator) -> float:
    """Return the mean loss of a character in nats."""
    losses = [(net.score(data) / data.features.shape[2], len(data.features)) for data in iterator]
    return float(sum(loss * pieces for loss, pieces in losses) / sum(pieces for _, pieces in losses))


def written(
    net: MultiLayerNetwork, alphabet: CharacterIterator, begin: str, length: int, random: np.random.Generator
) -> str:
    """Return a text that begins so and goes on by so many characters, each drawn from what the network expects."""
    codes, one_hot = list(alphabet.encode(begin)), np.eye(len(alphabet.characters), dtype=np.float32)
    net.rnn_clear_previous_state()
    for code in codes[:-1]:
        net.rnn_time_step(one_hot[code : code + 1])
    for _ in range(length):
        expected = nd.to_host(net.rnn_time_step(one_hot[codes[-1] : codes[-1] + 1]))[0].astype(np.float64)
        codes.append(int(random.choice(len(expected), p=expected / expected.sum())))
    net.rnn_clear_previous_state()
    return alphabet.decode(codes)


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--backend", choices=["auto", "numpy", "cupy"], help="default: the environment's ND_BACKEND")
    parser.add_argument("--texts", nargs="+", default=[], metavar="FILE", help="texts to learn, default: the sonnets")
    parser.add_argument("--epochs", type=int, default=20, help="default: 20")
    parser.add_argument("--batch", type=int, default=32, help="pieces of text per training step, default: 32")
    parser.add_argument("--sample", type=int, default=200, metavar="N", help="characters to write, default: 200")
    parser.add_argument("--seed", type=int, default=123, help="of weights, order and samples, default: 123")
    parser.add_argument("--save", metavar="FILE", help="write the trained network as a Deeplearning4j zip")
    return parser.parse_args()


def main() -> None:
    arguments = parse_arguments()
    if arguments.save and not pathlib.Path(arguments.save).absolute().parent.is_dir():
        raise SystemExit(f"--save: the folder of {arguments.save} must exist, got none")
    if arguments.backend:
        nd.set_backend(arguments.backend)
    learned, held_out = texts_of(arguments.texts)
    characters = "".join(sorted(set(learned + held_out)))
    train = CharacterIterator(learned, arguments.batch, PIECE, characters, seed=arguments.seed, every_step=True)
    test = CharacterIterator(held_out, arguments.batch, PIECE, characters, shuffle=False, every_step=True)
    steps = arguments.epochs * len(train) * (PIECE // SEGMENT)
    net = MultiLayerNetwork(character_model(len(characters), arguments.seed, steps)).init()
    print(f"backend: {nd.backend().name}; {len(learned):,} characters to learn, {len(held_out):,} held out")
    print(net.summary())
    random, started = np.random.default_rng(arguments.seed), time.perf_counter()
    for epoch in range(1, arguments.epochs + 1):
        try:
            net.fit(train)
        except KeyboardInterrupt:
            print(f"interrupted at iteration {net.iteration_count}: what is learnt so far stays")
            break
        loss, seconds = loss_per_character(net, test), time.perf_counter() - started
        print(f"\nepoch {epoch}, {seconds:.0f} s: {loss:.3f} nats per held-out character")
        print(written(net, test, "\n", arguments.sample, random).strip())
    print(f"\ntrained for {time.perf_counter() - started:.1f} s")
    print(f"loss per held-out character: {loss_per_character(net, test):.3f} nats")
    if arguments.save:
        net.save(arguments.save)
        print(f"saved {arguments.save}")


if __name__ == "__main__":
    try:
        main()
    except (nd.NdError, OSError) as error:
        raise SystemExit(f"shakespeare: {error}") from None
